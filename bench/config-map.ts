/** The small object that most benchmarks write. */
import type { JsonObject } from "../sim/contract/http-message.ts";

export const configMap = (
  name: string,
  data: Readonly<Record<string, string>> = { mode: "fast" },
  metadata: JsonObject = {},
): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { app: "bench" }, ...metadata },
  data: { ...data },
});
