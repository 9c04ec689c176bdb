/** Paths inside of something: beneath it, and not out of it again. Source: the published validation of local paths. */
import type { Cause } from "../../../contract/errors.ts";
import { invalidValue } from "../../../objects/causes.ts";

export function descendingCauses(file: string, path: string, causes: Cause[]): void {
  if (file.startsWith("/")) causes.push(invalidValue(path, file, "must be a relative path"));
  noWayBack(file, path, causes);
}

export function noWayBack(file: string, path: string, causes: Cause[]): void {
  if (file.split("/").includes("..")) causes.push(invalidValue(path, file, "must not contain '..'"));
}

/** A file in a volume: beneath it, and no name that the volume keeps for itself. */
export function fileCauses(file: string, path: string, causes: Cause[]): void {
  descendingCauses(file, path, causes);
  if (file.startsWith("..") && !file.startsWith("../")) {
    causes.push(invalidValue(path, file, "must not start with '..'"));
  }
}
