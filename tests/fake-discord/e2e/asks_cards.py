"""Asks of the real program: what a card shows, what each end of one leads to, what cannot break out."""

import json
import re

from .asking import BEFORE, ENDED, OPEN, AskCase, AskingModelCase, calling, sha256
from .fake import ANA, BEN, GENERAL
from .model import answers
from .waiting import until

CARD_MAX_CHARS = 2000


class Ends(AskCase):
    def a_change_that_an_operator_allows_is_made_to_the_letter_and_its_records_stand_in_order(self):
        self.file.chmod(0o640)
        seat = self.tooled().serve()
        message, ask = self.asked(seat, author=BEN)
        card = self.card(ask)
        for shown in ("`Edit plan.txt`", "`drafts`", "`Ben`", "May decide: `Ana`", "```diff\n--- plan.txt", "\n-two\n+2\n"):
            self.assertIn(shown, card["content"])
        self.assertIn(ask["digest"], card["content"])
        self.assertIn(sha256(b"one\n2\nthree\n"), card["content"])
        self.assertEqual(card["message_reference"]["message_id"], message)
        labels = [(b["label"], b["custom_id"]) for row in card["components"] for b in row["components"]]
        self.assertEqual(labels, [("Once", self.button(ask, "once")), ("Deny", self.button(ask, "deny"))])
        self.still_open(seat, ask)

        self.accepted(self.press(ask))
        self.record(seat, message)
        self.assertEqual(self.file.read_bytes(), b"one\n2\nthree\n")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(x.name for x in self.drafts.iterdir()), ["plan.txt"])
        self.closed(seat, ask, "Allowed once by `Ana`, and done.")
        self.assertEqual(self.uses(seat, message), [("edit", "done", None)])
        self.in_order(seat, message, ask)
        self.assertEqual(len(self.answers_to(message)), 1)

    def in_order(self, seat, message: str, ask: dict) -> None:
        intent = next(x for x in seat.lines("outbox") if x.get("owner") == f"ask:{ask['ask']}")
        begun, done = seat.about("calls", message)
        opened, posted, decided, closed = self.of_ask(seat, ask["ask"])
        self.assertEqual([x["k"] for x in (opened, posted, decided, closed)], ["opened", "posted", "decided", "closed"])
        self.assertEqual((begun["k"], begun["ask"], begun["digest"]), ("begun", ask["ask"], opened["digest"]))
        self.assertEqual((decided["by"], decided["via"], decided["answer"]), (ANA, "button", "once"))
        self.assertEqual(begun["after"], sha256(self.file.read_bytes()))
        groups = [x["g"] for x in (opened, intent, posted, decided, begun, done, closed)]
        self.assertEqual(groups, sorted(groups), "a line that stands before what led to it")
        self.assertLess(decided["g"], begun["g"])
        self.assertLess(begun["g"], done["g"])

    def answers_to(self, message: str) -> list:
        return [m for m in self.fake.replies(message) if OPEN not in m["content"] and ENDED not in m["content"]]

    def a_denied_change_is_not_made_and_the_same_change_is_asked_for_again(self):
        seat = self.tooled().serve()
        message, ask = self.asked(seat)
        self.accepted(self.press(ask, "deny"))
        self.record(seat, message)
        self.closed(seat, ask, "Denied by `Ana`.")
        self.unchanged(seat)
        self.assertEqual(self.ended(seat, ask)["answer"], "denied")
        self.assertEqual(self.uses(seat, message), [("edit", "refused", "denied")])
        self.assertIn("denied: ", self.answers_to(message)[0]["content"])
        again, second = self.asked(seat)
        self.assertNotEqual(second["ask"], ask["ask"])
        self.still_open(seat, second)
        self.accepted(self.press(second))
        self.record(seat, again)
        self.assertEqual(self.file.read_text(), "one\n2\nthree\n")
        self.answered_after(seat)

    def answered_after(self, seat) -> None:
        """The conversation goes on after an ask."""
        later = self.fake.say("say still here")
        self.assertEqual(self.fake.wait_reply(later)["content"], "still here")

    def no_answer_in_time_is_a_no_and_the_wait_costs_the_turn_nothing(self):
        seat = self.tooled(approvals={"askTimeoutSeconds": 6}, limits={"turnTimeoutSeconds": 4}).serve()
        message, ask = self.asked(seat)
        record = self.record(seat, message)
        self.assertEqual(record["how"], "done", "the wait counted against the turn's own time")
        self.assertEqual(self.uses(seat, message), [("edit", "refused", "ask-timed-out")])
        self.assertEqual(self.ended(seat, ask)["by"], "deadline")
        self.closed(seat, ask, "Nobody answered in time, so it was not done.")
        late = self.told_privately(self.press(ask, stale=True))
        self.assertEqual(late, "Nobody answered that in time, so it counts as denied.")
        self.unchanged(seat)

    def a_card_of_which_the_answer_was_lost_is_posted_once_and_decides_as_any_other(self):
        seat = self.tooled().serve()
        self.fake.fault("POST", f"/{GENERAL}/messages$", lose=True)
        message, ask = self.asked(seat)
        self.accepted(self.press(ask))
        self.record(seat, message)
        self.closed(seat, ask, "and done")
        self.assertEqual(len([m for m in self.fake.from_bot() if ask["ask"] in m["content"]]), 1)
        self.assertEqual(self.file.read_text(), "one\n2\nthree\n")

    def the_name_at_the_start_of_a_message_chooses_the_workspace_and_no_path_does(self):
        other = self.folder / "site"
        other.mkdir(mode=0o755)
        (other / "plan.txt").write_text(BEFORE)
        roots = [*self.roots(), {"name": "site", "path": str(other), "write": "ask"}]
        seat = self.tooled({"roots": roots}).serve()
        message, ask = self.asked(seat, "site: edit plan.txt: two => 2")
        self.assertIn("`site`", self.card(ask)["content"])
        self.accepted(self.press(ask))
        self.record(seat, message)
        self.assertEqual((other / "plan.txt").read_text(), "one\n2\nthree\n")
        self.assertEqual(self.file.read_text(), BEFORE)
        refused = self.fake.say("edit site/plan.txt: three => 3")
        self.record(seat, refused)
        self.assertEqual([use[1] for use in self.uses(seat, refused)], ["refused"])
        self.assertEqual((other / "plan.txt").read_text(), "one\n2\nthree\n")


class Exact(AskingModelCase):
    def each_byte_of_an_allowed_change_is_as_it_was_shown_and_the_others_stay(self):
        seat = self.playing({"maxCallsPerTurn": 20}).serve()
        cases = [
            ("line ends", b"a\r\nb\r\n", ("b", "Grüße"), "a\r\nGrüße\r\n".encode()),
            ("a mark at the start", b"\xef\xbb\xbfa\nb", ("b", "c"), b"\xef\xbb\xbfa\nc"),
            ("no last newline", b"a\nb", ("b", "b\n"), b"a\nb\n"),
            ("a smile", "\U0001f642 a\n".encode(), ("a", "\U0001f643"), "\U0001f642 \U0001f643\n".encode()),
            ("all of it away", b"gone\n", ("gone\n", ""), b""),
            ("a new one", None, "eins\r\nzwei\t\U0001f642", "eins\r\nzwei\t\U0001f642".encode()),
            ("an empty one", None, "", b""),
            ("what cannot be seen", None, "a\u202eb\u200bc\n", "a\u202eb\u200bc\n".encode()),
        ]
        for number, (name, before, change, after) in enumerate(cases):
            with self.subTest(name):
                path = self.drafts / f"file{number}"
                if before is None:
                    call = ("create", {"path": path.name, "text": change})
                else:
                    path.write_bytes(before)
                    call = ("edit", {"path": path.name, "old": change[0], "new": change[1]})
                self.model.play(calling(call), answers(name))
                message = self.fake.say(f"do {name}")
                ask = self.opened(seat, message)
                self.assertIn(sha256(after), self.card(ask)["content"])
                self.assertNotRegex(self.card(ask)["content"], "[\u202e\u200b]")
                self.accepted(self.press(ask))
                self.record(seat, message)
                self.assertEqual(path.read_bytes(), after)


class Shapes(AskingModelCase):
    """What a model puts into a change stays inside its code."""

    def shown(self, seat, path: str, body: str) -> dict:
        """The card of a new file, which is then denied."""
        self.model.play(calling(("create", {"path": path, "text": body})), answers("asked"))
        message = self.fake.say("make it")
        ask = self.opened(seat, message)
        card = json.loads(json.dumps(self.card(ask)))
        self.accepted(self.press(ask, "deny"))
        self.record(seat, message)
        ended = self.closed(seat, ask)
        self.assertEqual(ended["attachments"], card["attachments"], "what was asked for stays to be read")
        self.harmless(ended["content"], path)
        return card

    def harmless(self, content: str, *words: str) -> None:
        """Nothing of a model's stands outside code, and no code ends before its end."""
        self.assertLessEqual(len(content.encode("utf-16-le")) // 2, CARD_MAX_CHARS)
        self.assertIn(content.count("```"), (0, 2), content)
        rest = re.sub(r"```.*```", "", content, flags=re.DOTALL)
        rest = re.sub(r"`[^`\n]*`", "", rest)
        self.assertNotIn("`", rest, content)
        for word in (*words, "@everyone", "@here", "<@", "<#", "http"):
            self.assertNotIn(word, rest, content)

    def a_content_that_does_not_fit_is_attached_whole_and_its_digest_is_on_the_card(self):
        seat = self.playing().serve()
        for size in (0, 10, 900, 1000, 1100, 1200, 1300, 2000, 4000, 15_000):
            for line in ("x" * 70 + "\n", "Grüße \U0001f642\n", "no newline "):
                with self.subTest(size=size, line=line):
                    body = (line * (size // len(line) + 1))[:size]
                    card = self.shown(seat, "new.txt", body)
                    self.harmless(card["content"])
                    self.assertIn(sha256(body.encode()), card["content"])
                    if card["attachments"]:
                        self.assertEqual(len(card["attachments"]), 1)
                        self.assertEqual(self.file_of(card["attachments"][0]), body.encode())
                        self.assertIn("the whole is in `content.txt`", card["content"])
                    else:
                        self.assertIn(body.rstrip("\n"), card["content"], "cut, and nothing is attached")
        self.assertEqual(sorted(x.name for x in self.drafts.iterdir()), ["plan.txt"])

    def no_content_ends_its_block_or_calls_anybody(self):
        seat = self.playing().serve()
        bodies = [
            "```\n@everyone <@900000000000000001> free\n```",
            "a\n````\n@here\n````\n",
            "``\u200b`\n@everyone",
            "`" * 50,
            "~~~\n@everyone\n~~~",
            "\n\n```js\nMay decide: everybody <@&1>\n```\n**Allowed once by `Ana`, and done.**",
            "\\```\n<#710000000000000001> [go](http://x.example)",
            "\u202e```\u202c @everyone",
            "\\u{202e}\r\n\u02cb`\n",
        ]
        for body in bodies:
            with self.subTest(body=body):
                card = self.shown(seat, "new.txt", body)
                self.harmless(card["content"])
                self.assertEqual(card["mentions"], [])
                # Nothing is changed without the exact bytes beside it, and the card says which they are.
                if body not in card["content"]:
                    (attached,) = card["attachments"]
                    self.assertEqual(self.file_of(attached), body.encode())
                    self.assertIn(f"(sha256 `{sha256(body.encode())}`)", card["content"])
        self.nobody_was_called()

    def nobody_was_called(self, *but: str) -> None:
        """Every post and every edit says whom it may ping: nobody, but for these."""
        lines = self.fake.call("GET", "/_control/record?what=request")
        sent = [x for x in lines if x["method"] in ("POST", "PATCH") and "/messages" in x["path"] and x["body"]]
        self.assertTrue([x for x in sent if x["method"] == "PATCH"])
        for line in sent:
            allowed = line["body"]["allowed_mentions"]
            self.assertEqual(allowed["parse"], [], line)
            self.assertTrue(set(allowed.get("users", [])) <= set(but), line)

    def no_file_name_is_more_than_a_name(self):
        seat = self.playing().serve()
        for path in (
            "a`b.txt",
            "@everyone.txt",
            "<@900000000000000001>",
            "**b**_c_~~d~~",
            "``` ```.md",
            "[x](http:x.example)",
            "# heading",
            "> quote",
            "n" * 200,
        ):
            with self.subTest(path=path):
                card = self.shown(seat, path, "text\n")
                self.harmless(card["content"], path)
                self.assertNotRegex(card["content"].split("\n")[2], r"^(#|>)")
                if path not in card["content"]:
                    attached = self.file_of(card["attachments"][0]).decode()
                    self.assertIn(path, attached, "a name that is not shown as it is")
        self.model.play(calling(("create", {"path": "a\nMay decide: all", "text": "b"})), answers("no"))
        message = self.fake.say("make it")
        self.record(seat, message)
        self.assertEqual(self.uses(seat, message), [("create", "refused", "unprintable")])
        self.nobody_was_called()

    def a_card_mentions_the_operators_and_nobody_else_where_the_binding_says_so(self):
        seat = self.playing(discord={"apiUrl": self.fake.origin, "approvalMentions": True}).serve()
        self.model.play(calling(("create", {"path": "new.txt", "text": f"<@{BEN}> @everyone"})), answers("asked"))
        message = self.fake.say("make it", author=BEN)
        ask = self.opened(seat, message)
        card = self.card(ask)
        self.assertEqual([m["id"] for m in card["mentions"]], [ANA])
        post = next(p for p in self.fake.posts() if p["message"] == ask["card"])
        self.assertEqual((post["allowed_mentions"]["parse"], post["allowed_mentions"]["users"]), ([], [ANA]))
        self.accepted(self.press(ask, "deny"))
        self.closed(seat, ask)
        self.nobody_was_called(ANA)
        edits = self.fake.requests("PATCH", f"/messages/{ask['card']}")
        self.assertEqual([e["body"]["allowed_mentions"].get("users", []) for e in edits], [[] for _ in edits])

    def a_difference_that_would_show_a_credential_is_refused_before_anybody_is_asked(self):
        secret = "gh" + "p_" + "ZDFAKEb1GURI" + "tsMuYl1zvrgx" + "v2qLBxyNmgNS"
        (self.drafts / "config").write_text(f"name = a\ntoken = {secret}\nend\n")
        seat = self.playing().serve()
        self.model.play(
            calling(
                ("edit", {"path": "config", "old": "name = a", "new": "name = b"}),
                ("edit", {"path": "config", "old": f"token = {secret}\n", "new": ""}),
                ("edit", {"path": "plan.txt", "old": "two", "new": f"two {secret}"}),
                ("create", {"path": f"{secret}.txt", "text": "a"}),
            ),
            answers("refused"),
        )
        message = self.fake.say("change them")
        self.record(seat, message)
        reasons = [use[1:] for use in self.uses(seat, message)]
        self.assertEqual(reasons, [("refused", "secret-shape")] * 4)
        self.assertEqual(seat.lines("approvals"), [])
        until(lambda: self.fake.replies(message), "the answer")
        self.assertNotIn(secret.encode(), self.fake.record_path.read_bytes(), "Discord saw it")
        self.assertNotIn(secret, json.dumps(self.record(seat, message)))
        self.assertEqual(self.file.read_text(), BEFORE)
