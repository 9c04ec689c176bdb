/** References to objects of any kind, by group, kind and name. Source: the published validation of typed references. */
import { unlessEmpty, required, struct } from "../../objects/rules.ts";
import { subdomain, pathSegment } from "./formats.ts";

export const reference = struct({
  apiGroup: unlessEmpty(subdomain),
  kind: required(pathSegment),
  name: required(pathSegment),
});
