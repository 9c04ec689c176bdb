/** Where a planted bug gets at a list or a watch: at all that is known of it before it begins. Absent where there is none. */
import type { Cancel } from "../../kernel/types.ts";
import type { ListPlan } from "./list-plan.ts";
import type { WatchPlan } from "./watch-plan.ts";

/** Either may throw an `ApiError`, which is then the answer. */
export interface ReadSeams {
  list(plan: ListPlan): ListPlan;
  watch(plan: WatchPlan, begin: (plan: WatchPlan) => Cancel): Cancel;
}
