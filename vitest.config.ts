import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{wire,sim,conformance,scenarios,reports,cli,bench,docs}/**/*.test.ts"],
    pool: "threads",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
