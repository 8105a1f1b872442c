"""What a case of this folder states about its error, and how the text of a compiler is held against it.

A case states its error near the top, with one or more lines:

    // expect-error: REGEX

and may state

    // at-most-bytes: N          another limit of the text of g++ 12 and clang 14 than 2,500 bytes
    // reason-within-bytes: N    where the text of the first REGEX ends
    // gnu-options: OPTION...    options for g++

The compiler must reject the case with exactly one error, with every REGEX in the text."""
import dataclasses
import pathlib
import re

# From g++ 14 on an error in a constexpr function is also one at each place that calls it.
ERROR = re.compile(r": (?:fatal )?error: (?!.constexpr [^\n]* called in a constant expression)")
MESSAGE = re.compile(r"^\S[^\n]*: (?:(?:fatal )?error|warning): ")
NOTE = re.compile(r"^\S[^\n]*: note: ")
CONTEXT = re.compile(r"^(?:In file included from |\S[^\n]*: (?:In|At) )")
# Lines about a precompiled header, which users do not have, or about the file that lists the cases of a batch.
OURS = re.compile(r"(?:In file included| {16}) from [^\n]*(?:/(?:gnu|clang)/\w+\.hpp|/batches/\w+\.cpp):\d+[:,]\n")


@dataclasses.dataclass
class Expectations:
    patterns: list  # of str
    limit: int  # bytes
    reason_limit: int | None  # bytes
    gnu_options: list  # of str


def number(source, name, default):
    line = re.search(rf"// {name}: (\d+)", source)
    return int(line.group(1)) if line else default


def expectations(source):
    options = re.search(r"// gnu-options: ([^\n]+)", source)
    return Expectations(re.findall(r"// expect-error: *([^\n]+)", source), number(source, "at-most-bytes", 2500),
                        number(source, "reason-within-bytes", None), options.group(1).split() if options else [])


def size(text):
    return len(text.encode())


def scaled(expected, factor):
    """The same for a compiler whose texts have `factor` times the bytes."""
    limits = [limit and int(limit * factor) for limit in (expected.limit, expected.reason_limit)]
    return dataclasses.replace(expected, limit=limits[0], reason_limit=limits[1])


def complaint(text, expected, unseen=0):
    """Why this text is not what the case states, or None. unseen: bytes that the compiler may have left out of it."""
    for position, pattern in enumerate(expected.patterns):
        found = re.search(pattern, text)
        if not found:
            return f"no line that matches `{pattern}` in:\n{text}"
        end = size(text[: found.end()]) + unseen
        if position == 0 and expected.reason_limit is not None and end > expected.reason_limit:
            return f"`{pattern}` ends at byte {end}, the limit is {expected.reason_limit}:\n{text}"
    errors = len(ERROR.findall(text))
    if errors != 1:
        return f"expected one error, got {errors}:\n{text}"
    if size(text) + unseen > expected.limit:
        return f"{size(text) + unseen} bytes of text, the limit is {expected.limit}:\n{text}"
    return None


def diagnostics(text):
    """The text of a compiler, divided into messages: each with the lines before it that say where, its notes, and the
    lines of source. Lines of context may also belong to a note."""
    messages, context = [], ""
    for line in text.splitlines(keepends=True):
        if MESSAGE.match(line):
            messages.append(context + line)
            context = ""
        elif CONTEXT.match(line) or context and not NOTE.match(line):
            context += line
        elif messages:
            messages[-1] += context + line
            context = ""
        else:
            context += line
    if messages:
        messages[-1] += context
    return messages


def texts_by_case(text, cases):
    """The text of a compiler for a file that includes all these cases (names of files), each in a namespace named after it:
    a dict from case to its messages, without that name. None if a message states no case, or two: it may be any one's."""
    texts = dict.fromkeys(cases, "")
    for message in diagnostics(text):
        named = [case for case in cases if f"{case}:" in message]
        if len(named) != 1:
            return None
        texts[named[0]] += message.replace(f"{pathlib.PurePath(named[0]).stem}::", "")
    return texts
