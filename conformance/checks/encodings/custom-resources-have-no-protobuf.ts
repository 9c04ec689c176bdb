import { configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { isApiObject } from "../../client/types.ts";
import { writeConfigMap } from "../../model/protobuf.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { mediaTypeIn } from "../../runner/encodings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** There is no message for what nobody has compiled: it is refused before anything is written. One run says all. */
export const customResourcesHaveNoProtobuf = defineCheck({
  id: "custom-resources-have-no-protobuf",
  area: "encodings",
  property: "A custom resource asked for in protobuf alone is refused, and comes in JSON where that will do too.",
  requirements: ["encodings.custom-no-protobuf"],
  features: ["namespaces"],
  async run(attempt) {
    const schema = { type: "object", [`${attempt.profile.dialect.extensionPrefix}preserve-unknown-fields`]: true };
    await withDefinition(attempt, schema, async ({ widgets, widget }) => {
      const { client } = widgets;
      const protobuf = mediaTypeIn(attempt, "protobuf");
      objectOf(await widgets.create(widget("a", { spec: { size: 1 } })));
      for (const path of [widgets.pathOf("a"), widgets.path]) {
        const alone = await client.request("GET", path, { accept: protobuf });
        const actual = `${alone.status} ${mediaTypeOf(alone.headers)}, ${alone.bytes.length} bytes`;
        attempt.expect(
          "encodings.custom-no-protobuf",
          alone.status === 406,
          `406 for GET ${path} in ${protobuf}`,
          actual,
        );
        const accept = `${protobuf}, application/json`;
        const either = await client.request("GET", path, { accept });
        const type = mediaTypeOf(either.headers);
        const isJson = either.status === 200 && type === "application/json" && either.json !== undefined;
        attempt.expect(
          "encodings.custom-no-protobuf",
          isJson,
          `JSON for Accept: ${accept}`,
          `${either.status} ${type}`,
        );
      }
      for (const [method, path] of [
        ["POST", widgets.path],
        ["PUT", widgets.pathOf("a")],
      ] as const) {
        const rawBody = writeConfigMap(configMap(method === "POST" ? "b" : "a"));
        const refused = await client.request(method, path, { rawBody, contentType: protobuf });
        const isRefused = refused.status >= 400 && refused.status < 500;
        attempt.expect(
          "encodings.custom-no-protobuf",
          isRefused,
          `no ${method} of ${path} in it`,
          shownAnswer(refused),
        );
      }
      const names = (await widgets.readList()).items.map(({ metadata }) => metadata.name).join();
      attempt.expect("encodings.custom-no-protobuf", names === "a", "nothing made of a body in it", names);
      const one = await client.request("GET", widgets.pathOf("a"), { accept: `${protobuf}, application/json` });
      attempt.expect("encodings.custom-no-protobuf", isApiObject(one.json), "the object", one.text.slice(0, 200));
    });
  },
});
