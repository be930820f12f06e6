"""Replies of every length and shape: split, and whole when put together again."""

from .case import Case
from .fake import GENERAL
from .parts import joined, open_fence
from .waiting import until

CHUNK = 1900
DISCORD_MAX = 2000


class Lengths(Case):
    def parts(self, message: str) -> list[dict]:
        """Posts for one message: from its reply to the reply of the next message."""
        end = self.fake.say("say end of that")
        self.fake.wait_reply(end, seconds=120)
        posts = [p for p in self.fake.posts() if p["new"]]
        at = next(
            i
            for i, post in enumerate(posts)
            if (post.get("message_reference") or {}).get("message_id") == message
        )
        return posts[at:-1]

    def check(self, posts: list[dict], message: str, limit: int = CHUNK) -> str:
        for number, post in enumerate(posts):
            self.assertLessEqual(len(post["content"]), limit, f"part {number}")
            self.assertTrue(post["content"].strip(), f"part {number} is blank")
            self.assertIsNone(open_fence(post["content"]), f"part {number} leaves a fence open")
            self.assertIs(post["enforce_nonce"], True)
            self.assertEqual(post["allowed_mentions"].get("parse"), [])
        self.assertEqual(posts[0]["message_reference"]["message_id"], message)
        self.assertEqual([p for p in posts[1:] if p.get("message_reference")], [])
        self.assertEqual(len({p["nonce"] for p in posts}), len(posts))
        return joined([p["content"] for p in posts])

    def an_empty_answer_is_a_fixed_line(self):
        seat = self.serving()
        for asked in ("empty", "long 0"):
            with self.subTest(asked):
                reply = self.answered_once(seat, self.fake.say(asked))
                self.assertTrue(reply["content"].strip())

    def a_reply_of_any_length_is_whole_when_joined(self):
        self.serving()
        for chars in (1, 1899, 1900, 1901, 2000, 2001, 60000):
            with self.subTest(chars=chars):
                message = self.fake.say(f"long {chars}")
                posts = self.parts(message)
                text = self.check(posts, message)
                self.assertEqual(len(text), chars)
                self.assertEqual(len(posts) == 1, chars <= CHUNK)

    def a_reply_past_the_largest_number_of_parts_says_that_it_was_cut(self):
        self.serving()
        message = self.fake.say("long 100000")
        posts = self.parts(message)
        self.check(posts[:-1], message)
        self.assertLess(len(posts[-1]["content"]), 300, "one short line at the end")
        self.assertLess(len(joined([p["content"] for p in posts[:-1]])), 100000)

    def odd_texts_come_back_exactly(self):
        limits = {"replyChunkChars": 200, "turnsPerDay": 100000}
        self.serving(limits=limits)
        family = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
        flag = "\U0001f1e9\U0001f1ea"
        rows = "\n".join(f"| {n} | guest {n} | {n * n} |" for n in range(40))
        code = "\n".join(f"    let x{n} = {n};" for n in range(30))
        cases = [
            ("emoji families", " ".join([family] * 60)),
            ("emoji without blanks", family * 40),
            ("flags", flag * 150),
            ("combining marks", "e\u0301a\u0308" * 200),
            ("one long word", "w" * 900),
            ("paragraphs", "\n\n".join(f"Paragraph {n}. " + "word " * 20 + "end." for n in range(8))),
            ("a table", "| a | b | c |\n| - | - | - |\n" + rows),
            ("a fence with a language", f"Look:\n\n```rust\n{code}\n```\n\nThat is all."),
            ("a fence of tildes", f"~~~python\n{code}\n~~~"),
            ("a longer fence around a shorter", f"````md\n```\n{code}\n```\n````"),
            ("two fences", f"```\n{code}\n```\nand\n```sh\n{code}\n```"),
            ("wide characters", "\u6f22\u5b57" * 300),
            ("mentions", "<@900000000000000001> " * 40 + "end"),
            ("links", "https://example.com/a/long/path?with=query " * 15 + "end"),
        ]
        for name, text in cases:
            with self.subTest(name):
                message = self.fake.say(f"say {text}")
                posts = self.parts(message)
                self.assertGreater(len(posts), 1)
                self.assertEqual(self.check(posts, message, limit=200), text)
                for post in posts:
                    self.assertFalse(post["content"].startswith(("\u200d", "\u0301", "\u0308")))

    def a_refused_part_stops_the_rest_and_says_so(self):
        self.serving()
        refused = {"message": "Blocked by auto moderation", "code": 200000}
        self.fake.switch(delay=0.3)  # so that the parts come one by one
        message = self.fake.say("long 9000")
        until(lambda: len(self.fake.posts()) >= 1, "the first part")
        self.fake.fault("POST", f"/{GENERAL}/messages$", status=403, body=refused)
        last = self.parts(message)[-1]["content"]
        self.assertLess(len(last), 300, "one short line that says it was cut")
