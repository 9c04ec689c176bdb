import { expect, it } from "vitest";
import { create, endpoint } from "../object-fixtures.ts";
import { validateCreate } from "../validation.ts";

it("Settings for a registry are JSON, and a refusal does not show them", () => {
  const secrets = endpoint("v1/secrets");
  const texts = (settings: string): readonly string[] => {
    const stringData = { ".dockerconfigjson": settings };
    const secret = { metadata: { name: "s" }, type: "kubernetes.io/dockerconfigjson", stringData };
    return validateCreate(create(secret, secrets), secrets.strategy).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  };
  expect(texts('{"auths":{}}')).toEqual([]);
  expect(texts("hunter2")).toEqual([
    "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character 'h' looking for beginning of value",
  ]);
});
