import { kubernetes } from "./kubernetes.ts";
import type { SuiteProfile } from "./profile.ts";
import { svc } from "./svc.ts";

export const suiteProfiles: Readonly<Record<SuiteProfile["name"], SuiteProfile>> = { svc, kubernetes };
