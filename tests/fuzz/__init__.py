"""A fuzzer: generated input of every kind, each case of which ends in a finite answer or in a typed error.

    python -m tests.fuzz --minutes 5 --seed 0 --kinds tables models      (make fuzz MINUTES=5 does the same)
    python -m tests.fuzz --kinds models --seed 0 --case 137              one case again, with its traceback

One module per kind of input, with one function:

    cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]

It yields `count` cases, each a name and a function that runs it. Case number k depends on (seed, k) alone, so that it
can be run again by its number. Generating a case is cheap; whatever can fail happens in the function. A case passes if

- it returns: the module has checked the answer (`tests.fuzz.answers` has the checks, which raise AssertionError);
- or it raises a `BayeswiseError` whose text is shorter than 2,000 bytes;
- it takes less than 10 seconds of processor time and less than 2 GB of memory.

Every case that failed once becomes a named test in the folder of its area.
"""
