import { kubernetes, kubernetesOf } from "./kubernetes.ts";
import type { SuiteProfile } from "./profile.ts";
import { svc } from "./svc.ts";

export const suiteProfiles: Readonly<Record<SuiteProfile["name"], SuiteProfile>> = { svc, kubernetes };

/** The law for a target that says it is of this version: what an implementation is known for changes from one to another. */
export function profileFor(name: SuiteProfile["name"], version: string | undefined): SuiteProfile {
  return name === "kubernetes" ? kubernetesOf(version) : suiteProfiles[name];
}
