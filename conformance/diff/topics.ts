/** The random programs of each topic. */
import fc from "fast-check";
import { applySteps, deletionSteps, objectSteps, patchPrograms, validationSteps } from "./object-steps.ts";
import { discoverySteps, errorSteps, listPrograms, representationSteps, watchPrograms } from "./read-steps.ts";
import type { Program, Step } from "./step.ts";
import type { TopicName } from "./topic-names.ts";
import { typePrograms } from "./type-steps.ts";

const stepsMax = 10;

const programsOf = (steps: fc.Arbitrary<Step>): fc.Arbitrary<Program> =>
  fc.array(steps, { minLength: 1, maxLength: stepsMax, size: "max" });

export const topics = {
  objects: programsOf(objectSteps),
  types: typePrograms as fc.Arbitrary<Program>,
  patches: patchPrograms,
  apply: programsOf(applySteps),
  deletion: programsOf(deletionSteps),
  lists: listPrograms,
  watches: watchPrograms,
  validation: programsOf(validationSteps),
  representations: programsOf(representationSteps),
  errors: programsOf(errorSteps),
  discovery: programsOf(discoverySteps),
} as const satisfies Readonly<Record<TopicName, fc.Arbitrary<Program>>>;
