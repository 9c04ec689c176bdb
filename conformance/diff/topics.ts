/** The random programs of each topic. */
import fc from "fast-check";
import { accessPrograms } from "./access-steps.ts";
import { customPrograms } from "./custom-steps.ts";
import { applySteps, deletionPrograms, objectSteps, patchPrograms, validationSteps } from "./object-steps.ts";
import { discoverySteps, errorSteps, listPrograms, representationPrograms, watchPrograms } from "./read-steps.ts";
import { podPrograms } from "./pod-steps.ts";
import { eventPrograms, scopePrograms } from "./scope-steps.ts";
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
  deletion: deletionPrograms,
  lists: listPrograms,
  watches: watchPrograms,
  validation: programsOf(validationSteps),
  representations: representationPrograms,
  errors: programsOf(errorSteps),
  discovery: programsOf(discoverySteps),
  pods: podPrograms,
  namespaces: scopePrograms,
  events: eventPrograms,
  access: accessPrograms,
  custom: customPrograms,
} as const satisfies Readonly<Record<TopicName, fc.Arbitrary<Program>>>;
