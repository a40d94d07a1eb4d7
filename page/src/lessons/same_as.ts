// What a lesson shows, as lines for the shell and for Python: the numbers of the sliders in them.

/** 1 - p, without the digits that doubles add to it. */
export function rest(p: number): number {
  return Number((1 - p).toPrecision(12));
}

/** Lines of Python that end by printing something. */
export function python(...lines: readonly string[]): string {
  return ["import bayeswise as bw", "", ...lines].join("\n");
}

/** Bayes' rule for two states and one observation, which may be made several times. */
export function bayesRule(states: readonly [string, string], prior: number, seen: string, likelihood: readonly [number, number], times = 1) {
  const [one, other] = states;
  return {
    shell: `bayeswise bayes --prior ${one}=${prior} --likelihood ${seen}:${one}=${likelihood[0]} ${seen}:${other}=${likelihood[1]} --observe${` ${seen}`.repeat(times)}`,
    python: python(`print(bw.bayes({"${one}": ${prior}, "${other}": ${rest(prior)}}, {"${seen}": {"${one}": ${likelihood[0]}, "${other}": ${likelihood[1]}}}, ${times === 1 ? `"${seen}"` : `["${seen}"] * ${times}`}))`),
  };
}
