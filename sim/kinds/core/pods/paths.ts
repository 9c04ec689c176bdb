/** Paths inside of something: beneath it, and not out of it again. Source: the published validation of local paths. */
import { all, textThat } from "../../../objects/rules.ts";

export const noWayBack = textThat(
  (file) => !file.includes("..") || !file.split("/").includes(".."),
  "must not contain '..'",
);

export const descending = all(
  textThat((file) => !file.startsWith("/"), "must be a relative path"),
  noWayBack,
);

/** A file in a volume: beneath it, and no name that the volume keeps for itself. */
export const fileInVolume = all(
  descending,
  textThat((file) => !file.startsWith("..") || file.startsWith("../"), "must not start with '..'"),
);
