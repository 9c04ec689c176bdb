/** How much one answer of the target may say: a server may be broken or hostile, and whoever judges it must not break of it. */
import { answerDepthMax, answerValuesMax, hasFewJsonValues, isJsonDeeperThan } from "../../wire/json-values.ts";

/** No answer to any request of the suite has more to say, nor has a watch; what goes on is cut off. */
export const bodyBytesMax = 64 * 1024 * 1024;

/** Why an answer was lost, or a watch was cut off. */
export const tooLong = `its body goes on beyond ${bodyBytesMax / 1024 / 1024} MiB`;
export const tooManyValues = `its body has more than ${answerValuesMax.toLocaleString("en")} values`;
const tooDeep = `its body is nested more than ${answerDepthMax.toLocaleString("en")} deep`;

/** Why a body of JSON is not read; undefined when it is. */
export function unreadJson(body: Uint8Array): string | undefined {
  if (!hasFewJsonValues(body, answerValuesMax)) return tooManyValues;
  return unreadDepth(body);
}

/** As `unreadJson`, where values are counted by the caller. */
export function unreadDepth(body: Uint8Array): string | undefined {
  return isJsonDeeperThan(body, answerDepthMax) ? tooDeep : undefined;
}
