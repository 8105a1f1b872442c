"""What the peers of bench/gpu share: the cases, times of blocks of steps as in measure.hpp, and their lines of JSON."""
import argparse
import json
import time

CASES = ("W1 b1", "W1 b32", "W1 b128", "W4 b8", "W5", "W3 b32", "W3 b128", "W1 b1024", "W6", "W2 b32", "W2 b256")
MLP = {"W1": (784, 128, 10), "W2": (784, 512, 512, 10)}
SGD_RATE, ADAM_RATE = 0.01, 0.001
CHAIN = 1 << 20  # numbers of W5


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--filter", default="", help="only cases whose name contains it")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a measurement; 0: one step each")
    parser.add_argument("--device", default="gpu", help="gpu, or cpu to try the script without one")
    parser.add_argument("--modes", nargs="*", help="only these modes")
    return parser.parse_args()


def split(case):
    """"W1 b32" -> "W1", 32."""
    workload, _, batch = case.partition(" b")
    return workload, int(batch or 1)


def measured(run, seconds, unit=1):
    """Microseconds a step: median and least of blocks of about a tenth of the time. run(n) makes n calls of `unit` steps
    and waits for them."""
    def timed(n):
        start = time.perf_counter()
        run(n)
        return time.perf_counter() - start
    n, spent = 1, timed(1)
    if seconds > 0:
        warm = 0.0
        while warm < seconds / 4:
            taken = timed(n)
            warm += taken
            n = max(1, min(int(n * seconds / 10 / max(taken, 1e-7)), 10 * n))
        spent = 0.0
    us = []
    while True:
        taken = timed(n)
        us.append(taken / n / unit * 1e6)
        spent += taken
        if spent >= seconds:
            break
    us.sort()
    return us[len(us) // 2], us[0], n * unit


def report(**values):
    print(json.dumps(values), flush=True)


def race(modes, chosen):
    """modes: name -> make(workload, batch) -> (run, steps of a call), or None for a case that it does not have. Modes come
    one after the other, so that the cheap ones are complete when the time is over."""
    for mode, make in modes.items():
        if chosen.modes and mode not in chosen.modes:
            continue
        for case in CASES:
            if chosen.filter not in case:
                continue
            try:
                made = make(*split(case))
                if made is None:
                    continue
                median, least, n = measured(made[0], chosen.seconds, made[1])
                report(part="peers", case=case, mode=mode, us=median, least=least, n=n)
            except Exception as error:  # whatever a library throws: the other cases go on
                report(part="peers", case=case, mode=mode, error=f"{type(error).__name__}: {str(error)[:200]}")
