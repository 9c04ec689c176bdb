/** Jobs by a schedule. Source: the published defaults and validation; the grammar of the schedules' published parser. */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { invalidText, invalidValue, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { isObject, metadataOf, ownChild } from "../../contract/objects.ts";
import { scheduleError } from "./cron-schedule.ts";
import { enumCauses, fill, nonNegativeCauses, specToDefault } from "../shared/fields.ts";
import { jobSpecCauses } from "./job.ts";
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

/** The name of a job has eleven characters more than its schedule's. */
const nameLengthMax = 52;

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
  validate(object, causes, _dialect, live) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    const before = (live?.["spec"] ?? {}) as JsonObject;
    scheduleCauses(spec, before, causes);
    nonNegativeCauses(spec, ["startingDeadlineSeconds"], "spec", causes);
    if (live === undefined || spec["timeZone"] !== before["timeZone"]) zoneCauses(spec["timeZone"], causes);
    enumCauses(spec["concurrencyPolicy"], ["Allow", "Forbid", "Replace"], "spec.concurrencyPolicy", causes);
    jobTemplateCauses((((spec["jobTemplate"] ?? {}) as JsonObject)["spec"] ?? {}) as JsonObject, causes);
    nonNegativeCauses(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], "spec", causes);
    const { name = "" } = metadataOf(object);
    if (live !== undefined || name.length <= nameLengthMax) return;
    causes.push(invalidValue("metadata.name", name, `must be no more than ${nameLengthMax} characters`));
  },
};

function scheduleCauses(spec: JsonObject, before: JsonObject, causes: Cause[]): void {
  const schedule = (spec["schedule"] ?? "") as string;
  const path = "spec.schedule";
  if (schedule === "") {
    causes.push(requiredValue(path));
    return;
  }
  const error = scheduleError(schedule);
  if (error !== undefined) causes.push(invalidValue(path, schedule, error));
  if (!schedule.includes("TZ")) return;
  if (!((before["schedule"] ?? "") as string).includes("TZ")) {
    causes.push(invalidValue(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (spec["timeZone"] !== undefined) {
    causes.push(invalidValue(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
  }
}

const zoneForm = /^[A-Za-z._0-9+-]{1,14}$/;

/** Simplification: whether there is such a zone is not looked up. */
function zoneCauses(zone: Json | undefined, causes: Cause[]): void {
  const path = "spec.timeZone";
  if (zone === undefined) return;
  const refuse = (why: string): number => causes.push(invalidValue(path, zone, why));
  const parts = (zone as string).split("/");
  if (zone === "") refuse("timeZone must be nil or non-empty string");
  else if (parts.some((part) => part === "." || part === ".." || part.startsWith("-") || !zoneForm.test(part))) {
    refuse(`unknown time zone ${zone as string}`);
  } else if ((zone as string).toLowerCase() === "local") {
    refuse("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
}

function jobTemplateCauses(spec: JsonObject, causes: Cause[]): void {
  const path = "spec.jobTemplate.spec";
  jobSpecCauses(spec, path, causes);
  const { selector, manualSelector } = spec;
  if (isObject(selector)) {
    causes.push(invalidText(`${path}.selector`, goSelector(selector), "`selector` will be auto-generated"));
  }
  if (manualSelector === true) {
    causes.push(unsupportedValue(`${path}.manualSelector`, manualSelector, ["nil", "false"]));
  }
}

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
