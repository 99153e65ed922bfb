#!/usr/bin/env python3
"""Sends a file of JSON Lines to the administrative service of Partner Network, in batches.

Needs Python 3.10 or later and nothing else. The key comes from the variable INGEST_KEY.

    python3 send_changes.py balances changes.jsonl --url https://admin.example --gzip

A batch that got no answer, or an answer that a repetition can change, is sent again until it
succeeds: ids and times of the lines make this safe. Anything else stops the program with a message.

Exit status: 0 all lines are sent; 1 not all lines are sent; 2 the command line is wrong;
3 all lines are sent, and some were rejected, which --rejected-file keeps.
"""

import argparse
import gzip
import http.client
import json
import os
import queue
import random
import re
import sys
import threading
import time
import urllib.parse

BATCH_LINES = 1_000
BATCH_BYTES = 8 * 1024 * 1024
# A batch that is not full waits this long for more lines.
BATCH_SECONDS = 1
# What the service does not count as a line. A file may begin with a byte order mark.
BLANK = re.compile(rb"(\xef\xbb\xbf)?[ \t\r]*")
REPEATED = {408, 429, 500, 502, 503, 504}
# The service answers within 64 seconds.
ANSWER_SECONDS = 90
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30
COUNTS = ("read", "written", "unchanged", "stale", "deleted", "rejected_count")


class Stopped(Exception):
    """Why no more lines can be sent."""


class Lost(Exception):
    """An attempt whose batch must be sent again, and the seconds that the service asks to wait."""

    def __init__(self, why, wait=0.0):
        super().__init__(why)
        self.wait = wait


class Sender:
    """Sends batches over one connection, which it opens again when it breaks."""

    def __init__(self, options, key):
        url = urllib.parse.urlsplit(options.url)
        if url.scheme not in ("http", "https") or url.hostname is None:
            raise ValueError(f"{options.url} is not an http or https address.")
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self._open = lambda: kinds[url.scheme](url.hostname, url.port, timeout=ANSWER_SECONDS)
        self.skips = options.rejected_file is not None
        query = {"on_rejected": "skip" if self.skips else "stop"}
        if options.dry_run:
            query["dry_run"] = "true"
        path = f"{url.path.rstrip('/')}/admin/v1/{options.kind}/batches"
        self._path = f"{path}?{urllib.parse.urlencode(query)}"
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
        self._packs = options.gzip
        if self._packs:
            self._headers["Content-Encoding"] = "gzip"
        self._give_up_after = options.give_up_after
        self._connection = None

    def send(self, lines):
        """Sends a batch until it is answered, and returns the answer."""
        body = b"".join(line + b"\n" for line in lines)
        if self._packs:
            body = gzip.compress(body)
        wait, deadline = FIRST_WAIT_SECONDS, time.monotonic() + self._give_up_after
        while True:
            try:
                return self._attempt(body, len(lines))
            except Lost as lost:
                pause = max(lost.wait, wait * random.uniform(0.5, 1))
                if time.monotonic() + pause > deadline:
                    raise Stopped(f"{lost} Gave up after {self._give_up_after} s.") from None
                say(f"{lost} Sending the batch again in {pause:.1f} s.")
            time.sleep(pause)
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    def _attempt(self, body, count):
        try:
            self._connection = self._connection or self._open()
            self._connection.request("POST", self._path, body, self._headers)
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._close()
            raise Lost(f"No answer ({error or type(error).__name__}).") from None
        if response.getheader("Connection", "").lower() == "close":
            self._close()
        return self._answer_of(response, text, count)

    def _answer_of(self, response, text, count):
        status, answer = response.status, read_json(text)
        if status in (200, 207, 422) and "read" in answer:
            if answer["read"] != count:
                raise Stopped(f"The service read {answer['read']} lines, not {count}.")
            return answer
        said = f"The service answered {status}{errors_of(answer)}"
        request_id = response.getheader("X-Request-Id")
        said += f" (request {request_id})." if request_id else "."
        # A 200 without counts is not from the service, or was cut off.
        if status in REPEATED or status == 200:
            asked = response.getheader("Retry-After", "")
            raise Lost(said, float(asked) if asked.isdigit() else 0.0)
        raise Stopped(said)

    def _close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def read_json(text):
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def errors_of(answer):
    errors = answer.get("errors") or []
    return "".join(f": {error.get('code')}: {error.get('detail')}" for error in errors[:3]).rstrip(".")


def read_pieces(file, pieces):
    """Puts the input into a queue as it comes, then nothing as its end, or the error that ended it."""
    try:
        while piece := os.read(file.fileno(), 65_536):
            pieces.put(piece)
        pieces.put(b"")
    except OSError as error:
        pieces.put(error)


def batches_of(file):
    """Lists of (line number, line), without blank lines."""
    pieces = queue.Queue(1)
    # A thread, because not every system can wait for input with a time limit.
    threading.Thread(target=read_pieces, args=(file, pieces), daemon=True).start()
    batch, size, number, rest, due, piece = [], 0, 0, b"", 0.0, None
    while piece != b"":
        try:
            piece = pieces.get(timeout=max(0, due - time.monotonic()) if batch else None)
        except queue.Empty:
            yield batch
            batch = []
            continue
        if isinstance(piece, OSError):
            raise piece
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines if piece else [rest]:
            number += 1
            if BLANK.fullmatch(line):
                continue
            if batch and (len(batch) == BATCH_LINES or size + len(line) >= BATCH_BYTES):
                yield batch
                batch = []
            if not batch:
                size, due = 0, time.monotonic() + BATCH_SECONDS
            batch.append((number, line))
            size += len(line) + 1
    if batch:
        yield batch


def rejected_in(sender, batch, answer):
    """The rejected lines of a batch with their errors. An answer lists at most 1,000 errors."""
    errors = {}
    for error in answer.get("errors", []):
        errors.setdefault(error["line"], []).append(error)
    if sender.skips and len(errors) < answer["rejected_count"] and len(batch) > 1:
        # The valid lines are written, so that sending its halves again finds the others and changes nothing.
        middle = len(batch) // 2
        halves = (batch[:middle], batch[middle:])
        return [each for half in halves for each in rejected_in(sender, half, send(sender, half))]
    return [(*batch[line - 1], found) for line, found in sorted(errors.items())]


def send(sender, batch):
    return sender.send([line for _, line in batch])


def keep(path, rejected):
    """Appends rejected lines, in the form of "import --rejected-file". Only this user can read them."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        for number, line, found in rejected:
            errors = [{k: e[k] for k in ("field", "code", "detail") if k in e} for e in found]
            record = line.decode("utf-8", "replace")
            entry = {"line": number, "errors": errors, "record": record}
            file.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")


def send_all(options, key, file):
    sender, total, last = Sender(options, key), dict.fromkeys(COUNTS, 0), 0
    try:
        for batch in batches_of(file):
            answer = send(sender, batch)
            rejected = rejected_in(sender, batch, answer) if answer["rejected_count"] else []
            if rejected and not sender.skips:
                for number, _, found in rejected[:20]:
                    line = f"line {number}"
                    say("".join(f"{line}: {e.get('field', '')}: {e['code']}: {e['detail']} " for e in found))
                count = answer["rejected_count"]
                raise Stopped(f"Lines of the batch are rejected: {count}. Nothing of it was written.")
            if rejected:
                keep(options.rejected_file, rejected)
            for name in COUNTS:
                total[name] += answer[name]
            last = batch[-1][0]
    except (Stopped, OSError, KeyboardInterrupt) as error:
        why = str(error) or "Interrupted."
        say(f"{why} Lines up to {last} were sent. Send all later lines again.")
        return 1
    finally:
        print(", ".join(f"{total[name]} {name.removesuffix('_count')}" for name in COUNTS) + ".")
    return 3 if total["rejected_count"] else 0


def say(text):
    print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description="Send JSON Lines to the administrative service.")
    parser.add_argument("kind", choices=("brands", "balances", "grants"))
    parser.add_argument("file", help="path, or - for standard input")
    parser.add_argument("--url", default="http://127.0.0.1:8090", help="origin of the service")
    parser.add_argument("--rejected-file", metavar="PATH", help="skip rejected lines, and append them here")
    parser.add_argument("--gzip", action="store_true", help="pack the batches")
    parser.add_argument("--dry-run", action="store_true", help="check all lines, and write nothing")
    parser.add_argument("--give-up-after", type=float, default=900, metavar="SECONDS", help="for one batch")
    options = parser.parse_args()
    key = os.environ.get("INGEST_KEY", "").strip()
    if not re.fullmatch(r"pna_(live|test)_\w+", key):
        parser.error("Set the variable INGEST_KEY to a key with the role INGEST.")
    try:
        with sys.stdin.buffer if options.file == "-" else open(options.file, "rb") as file:
            return send_all(options, key, file)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        say(f"{error}. No line was sent.")
        return 1


if __name__ == "__main__":
    sys.exit(main())
