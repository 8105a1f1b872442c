"""The peers' side of bench/anchor/protocol.hpp, and the cases whose sizes nothing was tuned for (bench/anchor/unseen.hpp)."""
import json
import os
import sys
import time

# Name -> sizes, activation, optimizer, element type.
DENSE = {"X1": ((617, 300, 170, 26), "relu", "sgd", "float32"),
         "X2": ((64, *(7 * (72,)), 5), "tanh", "adam", "float32"),
         "X3": ((784, 128, 10), "relu", "sgd", "float64")}
CASES = [f"{name}:{batch}:{mode}" for mode in ("train", "infer") for name, batches in
         (("X1", (20, 75)), ("X2", (50,)), ("X3", (32, 100)), ("X4", (24,)), ("X5", (16,)), ("X6", (5,)), ("X7", (1,)))
         for batch in batches]
SGD_RATE, ADAM_RATE = 0.01, 0.001


def threads():
    return int(sys.argv[sys.argv.index("--threads") + 1]) if "--threads" in sys.argv else 1


def timed(steps, n):
    start = time.perf_counter()
    loss = steps(n)
    return time.perf_counter() - start, loss


def prepared(steps):
    """Warms up for 0.3 seconds, and determines the block size that takes about 5 ms."""
    first, block, spent = steps(1), 1, 0.0
    while spent < 0.3:
        took, _ = timed(steps, block)
        spent += took
        block = max(1, min(int(block * 0.005 / max(took, 1e-7)), 10 * block))
    return steps, block, first


def serve(make):
    """make(workload, batch, train) returns steps(n) -> loss, or None for an unknown workload."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    known = {}
    for line in sys.stdin:
        try:
            workload, batch, mode, seconds = line.split()
            key = workload, int(batch), mode == "train"
            if key not in known:
                steps = make(*key)
                known[key] = prepared(steps) if steps else None
            if known[key] is None:
                answer = {"skip": "not expressed"}
            else:
                steps, block, first = known[key]
                us, end = [], time.perf_counter() + float(seconds)
                while not us or time.perf_counter() < end:
                    took, loss = timed(steps, block)
                    us.append(took / block * 1e6)
                answer = {"us": us, "n": block, "first_loss": first, "loss": loss}
        except Exception as error:  # whatever a library throws: the race goes on without it
            answer = {"skip": f"{type(error).__name__}: {str(error)[:200]}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
