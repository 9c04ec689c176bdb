import { expect, it, vi } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";
import { scheduleError } from "./cron-schedule.ts";

const cronJobs = endpoint("batch/v1/cronjobs");
const jobTemplate = {
  spec: { template: { spec: { restartPolicy: "OnFailure", containers: [{ name: "c", image: "i" }] } } },
};
const body = (spec: JsonObject, name = "a"): JsonObject => ({
  metadata: { name },
  spec: { schedule: "@hourly", jobTemplate, ...spec },
});
const texts = (spec: JsonObject, name?: string): readonly string[] =>
  validateCreate(create(body(spec, name), cronJobs), cronJobs.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

it("A scheduled job has defaults, and so have its pods", () => {
  expect(create(body({}), cronJobs)["spec"]).toMatchObject({
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    jobTemplate: { spec: { template: { spec: { schedulerName: "default-scheduler" } } } },
  });
  expect(texts({})).toEqual([]);
});

it.each([
  [{ schedule: "" }, "spec.schedule: Required value"],
  [{ schedule: "* *" }, 'spec.schedule: Invalid value: "* *": expected exactly 5 fields, found 2: [* *]'],
  [
    { schedule: "TZ=UTC 0 * * * *" },
    'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
  ],
  [
    { concurrencyPolicy: "Z" },
    'spec.concurrencyPolicy: Unsupported value: "Z": supported values: "Allow", "Forbid", "Replace"',
  ],
  [{ timeZone: "../x" }, 'spec.timeZone: Invalid value: "../x": unknown time zone ../x'],
  [
    { jobTemplate: { spec: { ...jobTemplate.spec, manualSelector: true } } },
    'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  ],
] as const)("%j is refused", (spec, text) => expect(texts(spec as unknown as JsonObject)).toEqual([text]));

it("Names leave room for a time", () => {
  expect(texts({}, "a".repeat(52))).toEqual([]);
  expect(texts({}, "a".repeat(53))[0]).toContain("must be no more than 52 characters");
});

it.each(["* * * * *", "*/15 0-6/2 1,15 JAN-mar ?", "5/10 * * * sun", "@every 1h30m", "CRON_TZ=UTC 0 0 * * *"])(
  "%s is a schedule",
  (schedule) => expect(scheduleError(schedule)).toBeUndefined(),
);

it.each([
  ["60 * * * *", "end of range (60) above maximum (59): 60"],
  ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
  ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
  ["*/0 * * * *", "step of range should be a positive number: */0"],
  ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
  ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ["@often", "unrecognized descriptor: @often"],
])("%s: %s", (schedule, error) => expect(scheduleError(schedule)).toBe(error));

it.each([
  [`${"*/2 ".repeat(200_000)}`, /^expected exactly 5 fields, found 200000: \[\*\/2 \*\/2 /],
  [`*/2\t\n${"*/2  ".repeat(9)}`, /^expected exactly 5 fields, found 10: \[\*\/2 \*\/2 [^\t\n]*\/2\]$/],
  [`${"1,2-3,*/5,,".repeat(20_000)} * * * *`, /^none$/],
])("A long schedule is not taken apart more than it has to be", (schedule, text) => {
  const split = vi.spyOn(String.prototype, "split");
  const error = scheduleError(schedule);
  const splitCount = split.mock.calls.length;
  split.mockRestore();
  expect(error ?? "none").toMatch(text);
  expect(splitCount).toBeLessThan(30);
});
