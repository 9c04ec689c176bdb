/** Jobs by a schedule. Source: the published defaults and validation; the grammar of the schedules' published parser. */
import { jobSpec } from "./job.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { ownChild } from "../../contract/objects.ts";
import { scheduleError } from "./cron-schedule.ts";
import { fill, specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { goSelector } from "../shared/pod-selector.ts";
import { defaultTemplate } from "../apps/workloads.ts";
import {
  printer,
  nameColumn,
  column,
  textAt,
  orNone,
  integerColumn,
  listAt,
  at,
  none,
  since,
  ageColumn,
} from "../shared/printer.ts";
import { templateColumns, selectorColumn } from "../shared/columns.ts";
import { hiddenVariablesAt } from "../core/pods/hidden-variables.ts";
import type { KindRow } from "../kind-row.ts";
import {
  format,
  fieldRules,
  always,
  struct,
  required,
  nonNegative,
  oneOf,
  whenNew,
  textThat,
} from "../../objects/rules.ts";
import { noErrors } from "../../../wire/names.ts";
import type { Place } from "../../objects/place.ts";

/** The name of a job has eleven characters more than its schedule's. */
const nameLengthMax = 52;

const validSchedule = format((schedule) => {
  const error = scheduleError(schedule);
  return error === undefined ? noErrors : [error];
});

const specBefore = (at: Place): JsonObject => (at.live?.["spec"] ?? {}) as JsonObject;

function zoneInSchedule({ schedule = "", timeZone: zone }: Readonly<Record<string, string>>, at: Place): void {
  if (!schedule.includes("TZ")) return;
  const here = at.of("schedule");
  if (!((specBefore(at)["schedule"] ?? "") as string).includes("TZ")) {
    here.invalid(schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (zone !== undefined) {
    here.invalid(schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

const zoneForm = /^[A-Za-z._0-9+-]{1,14}$/;

/** Simplification: whether there is such a zone is not looked up. */
function timeZone({ timeZone: zone }: Readonly<Record<string, string>>, at: Place): void {
  if (zone === undefined || (at.live !== undefined && zone === specBefore(at)["timeZone"])) return;
  const refuse = (why: string): void => at.of("timeZone").invalid(zone, why);
  const parts = zone.split("/");
  if (zone === "") refuse("timeZone must be nil or non-empty string");
  else if (parts.some((part) => part === "." || part === ".." || part.startsWith("-") || !zoneForm.test(part))) {
    refuse(`unknown time zone ${zone}`);
  } else if (zone.toLowerCase() === "local") {
    refuse("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
}

const cronJobRules: KindRules = {
  warnings: hiddenVariablesAt("spec", "jobTemplate", "spec", "template", "spec"),
  defaults(draft) {
    const spec = specToDefault(draft, "concurrencyPolicy");
    if (spec === undefined) return;
    fill(spec, "concurrencyPolicy", "Allow");
    spec["suspend"] ??= false;
    spec["successfulJobsHistoryLimit"] ??= 3;
    spec["failedJobsHistoryLimit"] ??= 1;
    defaultTemplate(ownChild(ownChild(spec, "jobTemplate"), "spec")); // the rest when a job is made
  },
  validate: fieldRules({
    spec: always(
      struct(
        { schedule: required(validSchedule) },
        zoneInSchedule,
        { startingDeadlineSeconds: nonNegative },
        timeZone,
        {
          concurrencyPolicy: required(oneOf(["Allow", "Forbid", "Replace"])),
          "jobTemplate.spec": always(
            struct(jobSpec.judge, {
              selector: (selector: JsonObject, at: Place) =>
                at.invalidText(goSelector(selector), "`selector` will be auto-generated"),
              manualSelector: (isManual: boolean, at: Place) => {
                if (isManual) at.unsupported(isManual, ["nil", "false"]);
              },
            }),
          ),
          successfulJobsHistoryLimit: nonNegative,
          failedJobsHistoryLimit: nonNegative,
        },
      ),
    ),
    "metadata.name": whenNew(
      textThat((name) => name.length <= nameLengthMax, `must be no more than ${nameLengthMax} characters`),
    ),
  }),
};

export const cronJobKind: KindRow = {
  resource: "batch/cronjobs",
  usesGeneration: true,
  rules: cronJobRules,
  columns: printer(
    nameColumn,
    column("Schedule", "When jobs are made.", (it) => textAt(it, "spec.schedule")),
    column("Timezone", "The time zone of the schedule.", (it) => orNone(textAt(it, "spec.timeZone"))),
    { ...column("Suspend", "No further jobs are made.", suspended), type: "boolean" },
    integerColumn("Active", "Jobs that are running.", (it) => listAt(it, "status.active").length),
    column("Last Schedule", "When a job was last made.", (it, now) => {
      const last = at(it, "status.lastScheduleTime");
      return last === undefined ? none : since(last, now);
    }),
    ageColumn,
    ...templateColumns("spec.jobTemplate.spec.template.spec"),
    selectorColumn("spec.jobTemplate.spec.selector"),
  ),
};

function suspended(cronJob: JsonObject): string {
  return at(cronJob, "spec.suspend") === true ? "True" : "False";
}
