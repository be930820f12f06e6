"""Tools of the real program: which a turn is told of, what they give, how each refusal is told."""

import json
import os

from .asking import AskCase, AskingModelCase, calling, pathless
from .fake import ANA, BEN
from .model import answers

FILES = ["list_dir", "read_file", "search"]
WRITES = ["write_file", "edit_file"]
WORKSPACE = ["list", "read", "create", "edit"]


class Offers(AskingModelCase):
    def a_list_of_toolsets_narrows_what_a_turn_is_told_of_for_its_origin_alone(self):
        library, notes, drafts = self.roots()
        web = {"web": {"searxng": "http://127.0.0.1:9"}}
        every = {"tools": {"roots": [library, notes, drafts], **web}}
        cases = [
            ("pages alone", {"tools": {"web": {}}}, ["web_fetch"]),
            ("all", every, FILES + WRITES + WORKSPACE + ["web_fetch", "web_search"]),
            ("one set", {**every, "platformToolsets": {"discord": ["workspace"]}}, WORKSPACE),
            ("others' sets", {"tools": {"roots": [library]}, "platformToolsets": {"cotal": ["web"]}}, FILES),
            ("a set without ground", {"tools": {"roots": [library]}, "platformToolsets": {"discord": ["web"]}}, None),
        ]
        seat = self.playing()
        plain = {k: v for k, v in seat.binding.items() if k != "tools"}
        for name, change, wanted in cases:
            with self.subTest(name):
                seat.write_binding(json.dumps({**plain, **change}))
                seat.serve()
                self.model.play(answers(name))
                self.assertEqual(self.told(self.fake.say("hello")), name)
                body = self.model.seen[-1]["body"]
                offered = [tool["function"]["name"] for tool in body.get("tools") or []]
                self.assertEqual(offered, wanted or [])
                if wanted is None:
                    self.assertFalse({"tools", "tool_choice"} & set(body), "a word about tools")
                for folder in (self.library, self.notes, self.drafts):
                    self.assertNotIn(str(folder), json.dumps(body), "a path of this machine")
                self.assertEqual(seat.terminate(), 0)

    def a_person_who_may_not_decide_is_offered_the_same_and_the_origin_is_not_an_argument(self):
        seat = self.playing().serve()
        names = []
        for author in (ANA, BEN):
            self.model.play(answers("yes"))
            self.told(self.fake.say("hello", author=author))
            names.append([tool["function"]["name"] for tool in self.model.seen[-1]["body"]["tools"]])
        self.assertEqual(names, [FILES + WRITES + WORKSPACE] * 2)
        for tool in self.model.seen[-1]["body"]["tools"]:
            schema = tool["function"]["parameters"]
            self.assertFalse(schema["additionalProperties"])
            self.assertFalse({"origin", "approved", "workspace", "turn"} & set(schema["properties"]))
        self.assertEqual(seat.terminate(), 0)


class Reads(AskCase):
    def a_root_is_listed_read_and_searched_without_an_ask(self):
        (self.library / "poems").mkdir()
        (self.library / "poems" / "sea.md").write_bytes("Grüße\r\nthe sea\r\n".encode())
        (self.library / "list.txt").write_text("by the sea\n")
        seat = self.tooled({"roots": self.roots()[:1]}).serve()
        cases = [
            ("list", "list_dir", ["poems/ (folder)", "list.txt (file, 11 bytes)"]),
            ("list poems", "list_dir", ["sea.md (file, 18 bytes)"]),
            ("read poems/sea.md", "read_file", ["Grüße\r\nthe sea"]),
            ("search the sea", "search", ["list.txt:1: by the sea", "poems/sea.md:2: the sea", "2 hits"]),
        ]
        for words, tool, wanted in cases:
            with self.subTest(words):
                message = self.fake.say(words, author=BEN)
                said = self.fake.wait_reply(message)["content"]
                for word in wanted:
                    self.assertIn(word, said)
                self.assertEqual(self.uses(seat, message), [(tool, "done", None)])
        for name in ("approvals", "calls"):
            self.assertEqual(seat.lines(name), [], "looking is no effect")

    def a_root_that_is_the_operators_to_write_is_written_without_an_ask_and_recorded(self):
        (self.notes / "day.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
        seat = self.tooled({"roots": self.roots()[:2]}).serve()
        made = self.fake.say("create notes/new.txt: hello")
        self.fake.wait_reply(made)
        self.assertEqual((self.notes / "new.txt").read_bytes(), b"hello")
        changed = self.fake.say("edit notes/day.txt: two => 2")
        self.assertIn("Edited day.txt", self.fake.wait_reply(changed)["content"])
        self.assertEqual((self.notes / "day.txt").read_bytes(), b"\xef\xbb\xbfone\r\n2")
        self.assertEqual(seat.lines("approvals"), [])
        for message, tool in ((made, "write_file"), (changed, "edit_file")):
            lines = seat.about("calls", message)
            self.assertEqual([x["k"] for x in lines], ["begun", "done"])
            self.assertEqual((lines[0]["tool"], lines[0]["root"], lines[0].get("ask")), (tool, "notes", None))
            self.assertEqual(self.uses(seat, message), [(tool, "done", None)])
        refused = self.fake.say("create library/new.txt: hello")
        self.assertIn("root-readonly", self.fake.wait_reply(refused)["content"])
        self.assertEqual(list(self.library.iterdir()), [])


class Refusals(AskingModelCase):
    def every_call_gets_its_own_named_outcome_and_the_record_says_the_same(self):
        outside = self.folder / "outside.txt"
        outside.write_text("OUTSIDE")
        secret = "gh" + "p_" + "ZDFAKEb1GURI" + "tsMuYl1zvrgx" + "v2qLBxyNmgNS"
        lib = self.library
        (lib / "a.txt").write_text("a\na\n")
        (lib / "key.txt").write_text(f"token {secret}\n")
        (lib / "bytes").write_bytes(b"\0\1")
        (lib / "latin").write_bytes(b"Gr\xfc\xdfe")
        (lib / "long").write_text("x" * 300_000)
        (lib / "link").symlink_to(outside)
        (lib / "up").symlink_to(self.folder)
        os.link(outside, lib / "twice")
        os.mkfifo(lib / "pipe")
        (self.drafts / "again.txt").write_text("a a")

        def read(path, root="library"):
            return ("read_file", {"root": root, "path": path})

        def change(path="plan.txt", old="two", new="2"):
            return ("edit", {"path": path, "old": old, "new": new})

        cases = [
            (read("a.txt"), None),
            (read("/etc/passwd"), "absolute"),
            (read("../outside.txt"), "parent-segment"),
            (read("a/../../outside.txt"), "parent-segment"),
            (read("./a.txt"), "dot-segment"),
            (read("a//b"), "empty-segment"),
            (read(".git/config"), "dot-entry"),
            (read("a\0b"), "nul-byte"),
            (read("a\u202eb"), "unprintable"),
            (read("link"), "symlink"),
            (read("up/outside.txt"), "symlink"),
            (read("twice"), "hard-link"),
            (read("pipe"), "not-regular"),
            (read("nothing"), "not-found"),
            (read("bytes"), "binary"),
            (read("latin"), "not-utf8"),
            (read("long"), "too-large"),
            (read("key.txt"), "secret-shape"),
            (read("a.txt", "elsewhere"), "unknown-root"),
            (("list_dir", {"root": "library", "path": "a.txt"}), "not-directory"),
            (("search", {"root": "library", "pattern": "(", "regex": True}), "bad-pattern"),
            (("write_file", {"root": "library", "path": "b", "text": "b"}), "root-readonly"),
            (("write_file", {"root": "drafts", "path": "b", "text": "b"}), "workspace-only"),
            (("write_file", {"root": "notes", "path": "no/b", "text": "b"}), "parent-missing"),
            (("write_file", {"root": "notes", "path": "b", "text": f"k {secret}"}), "secret-shape"),
            (("create", {"path": "plan.txt", "text": "b"}), "exists"),
            (("create", {"path": "b", "text": f"k {secret}"}), "secret-shape"),
            (change(new=f"k {secret}"), "secret-shape"),
            (change(old="four"), "no-match"),
            (change(path="again.txt", old="a"), "ambiguous"),
            (change(new="two"), "no-change"),
            (change(path="../library/a.txt"), "parent-segment"),
            # The engine's own mistakes.
            (("run_shell", {"command": "id"}), "not-offered"),
            (("git_commit", {"root": "drafts", "message": "m", "paths": ["plan.txt"]}), "not-offered"),
            (("read_file", "{"), "bad-arguments"),
            (("read_file", "[]"), "bad-arguments"),
            (("read_file", {"root": "library"}), "bad-arguments"),
            (("read_file", {"root": "library", "path": 7}), "bad-arguments"),
            (("edit", {"path": "plan.txt", "old": "two", "new": "2", "approved": True}), "bad-arguments"),
            (("edit", '{"path": "plan.txt", "path": "a", "old": "two", "new": "2"}'), "bad-arguments"),
            (("create", {"path": "b", "text": "x" * 70_000}), "arguments-too-large"),
        ]
        seat = self.playing({"maxCallsPerTurn": 100}).serve()
        half = len(cases) // 2
        for part in (cases[:half], cases[half:]):
            self.model.play(calling(*[call for call, _ in part]), answers("all tried"))
            message = self.fake.say("try everything")
            self.assertEqual(self.told(message), "all tried")
            # The conversation before has its own results.
            results = self.results()[-len(part) :]
            uses = self.uses(seat, message)
            self.assertEqual((len(results), len(uses)), (len(part), len(part)))
            for (call, reason), result, use in zip(part, results, uses):
                with self.subTest(call=str(call)[:80]):
                    self.assertEqual(use[1:], ("refused", reason) if reason else ("done", None))
                    if reason:
                        self.assertTrue(result.startswith(f"{reason}: "), result)
                    self.assertTrue(pathless(result, self.folder), result)
                    self.assertNotIn(secret, result)
                    self.assertNotIn("OUTSIDE", result)
        self.assertEqual(seat.lines("approvals"), [], "what is refused is not asked for")
        self.assertEqual(seat.lines("calls"), [])
        self.assertEqual(sorted(x.name for x in self.drafts.iterdir()), ["again.txt", "plan.txt"])
        for path in [seat.log_path, *seat.files()]:
            if path.is_file() and "sessions" not in path.parts:
                self.assertNotIn(secret.encode(), path.read_bytes(), path.name)

    def a_call_beyond_the_limit_of_a_message_is_refused_and_the_next_message_begins_anew(self):
        seat = self.playing({"maxCallsPerTurn": 3}).serve()
        look = ("list", {"path": "."})
        self.model.play(calling(look, look), calling(look, look, look), answers("enough"))
        first = self.fake.say("look five times")
        self.assertEqual(self.told(first), "enough")
        wanted = [("list", "done", None)] * 3 + [("list", "refused", "call-limit")] * 2
        self.assertEqual(self.uses(seat, first), wanted)
        self.assertTrue(all(r.startswith("call-limit: ") for r in self.results()[3:]))
        self.model.play(calling(look), answers("again"))
        second = self.fake.say("look once more")
        self.assertEqual(self.told(second), "again")
        self.assertEqual(self.uses(seat, second), [("list", "done", None)])

    def a_model_that_never_stops_calling_is_ended_with_an_answer(self):
        seat = self.playing({"maxCallsPerTurn": 2}).serve()
        look = ("list", {"path": "."})
        self.model.play(*[calling(look) for _ in range(12)])
        message = self.fake.say("look for ever")
        self.assertIn("kept calling tools", self.told(message))
        self.assertLess(len(self.model.seen), 10)
        self.assertEqual(self.uses(seat, message)[2:3], [("list", "refused", "call-limit")])
        self.assertEqual(seat.terminate(), 0)


class Steps(AskingModelCase):
    def each_call_of_one_step_is_asked_for_when_the_one_before_has_ended(self):
        seat = self.playing().serve()
        self.model.play(
            calling(
                ("edit", {"path": "plan.txt", "old": "one", "new": "1"}),
                ("edit", {"path": "plan.txt", "old": "two", "new": "2"}),
                ("read", {"path": "plan.txt"}),
                said="Two changes.",
            ),
            answers("Done."),
        )
        message = self.fake.say("change both")
        first = self.opened(seat, message)
        self.assertEqual(first["call"], 0)
        self.assertEqual(len([x for x in seat.lines("approvals") if x["k"] == "opened"]), 1)
        self.accepted(self.press(first))
        second = self.opened(seat, message, 2)
        self.assertEqual(second["call"], 1)
        self.assertNotEqual(second["ask"], first["ask"], "a decision is worth one call")
        self.accepted(self.press(second, "deny"))
        self.record(seat, message)
        self.assertEqual(self.file.read_text(), "1\ntwo\nthree\n")
        results = self.results()
        self.assertTrue(results[0].startswith("Edited plan.txt"), results)
        self.assertTrue(results[1].startswith("denied: "), results)
        self.assertEqual(results[2], "1\ntwo\nthree\n")
        self.closed(seat, first, "Allowed once by `Ana`, and done.")
        self.closed(seat, second, "Denied by `Ana`.")
