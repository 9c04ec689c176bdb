import { cborMediaType } from "../../../wire/media-types.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** CBOR is behind a gate that is off by default: a target has it or says by 406 that it has not. */
export const cborIsAnOffer = defineCheck({
  id: "cbor-is-an-offer",
  area: "encodings",
  property: "CBOR is either served whole or refused.",
  requirements: ["encodings.cbor-off"],
  features: ["configmaps"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    objectOf(await collection.create(configMap("a", { data: { k: "v" } })));
    const alone = await client.request("GET", collection.pathOf("a"), { accept: cborMediaType });
    const said = `${alone.status} ${mediaTypeOf(alone.headers)}`;
    const isLawful = alone.status === 406 || said === `200 ${cborMediaType}`;
    attempt.expect("encodings.cbor-off", isLawful, `406, or 200 ${cborMediaType}`, said);
  },
});
