// Learn: the pictures of the lectures, to be moved by hand. Nothing here needs the server.
import type { ComponentType } from "preact";
import { Boundaries } from "../lessons/boundaries";
import { Coin } from "../lessons/coin";
import { CountedTwice } from "../lessons/counted_twice";
import { MedicalTest } from "../lessons/medical_test";
import { Smoothing } from "../lessons/smoothing";
import { TwoDensities } from "../lessons/two_densities";
import { query, urlOf } from "../router";

interface Lesson {
  readonly key: string;
  readonly title: string;
  readonly about: string;
  readonly View: ComponentType;
}

const LESSONS: readonly Lesson[] = [
  { key: "bayes-rule", title: "Bayes’ rule", about: "A test, a rare disease, 1,000 people.", View: MedicalTest },
  { key: "boundary", title: "The best boundary", about: "Two densities, their priors, and the error of a boundary.", View: TwoDensities },
  { key: "coin", title: "One toss at a time", about: "The belief about a coin after each toss.", View: Coin },
  { key: "smoothing", title: "Smoothing", about: "From counts to shares that leave nothing impossible.", View: Smoothing },
  { key: "shapes", title: "Line or curve", about: "Equal and different covariances of two classes.", View: Boundaries },
  { key: "counted-twice", title: "Counted twice", about: "What naive Bayes makes of copies of a column.", View: CountedTwice },
];

export function LearnPage() {
  const chosen = LESSONS.find((lesson) => lesson.key === query.value.get("lesson")) ?? LESSONS[0]!;
  const { View } = chosen;
  return (
    <article>
      <h1>Learn</h1>
      <nav class="tabs" aria-label="Lessons">
        {LESSONS.map((lesson) => (
          <a key={lesson.key} href={urlOf("/learn", { lesson: lesson.key })} aria-current={lesson === chosen ? "page" : undefined}>{lesson.title}</a>
        ))}
      </nav>
      <p class="quiet">{chosen.about}</p>
      <View key={chosen.key} />
    </article>
  );
}
