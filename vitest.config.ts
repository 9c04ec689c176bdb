import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{wire,sim,conformance,scenarios,reports,cli,bench,docs}/**/*.test.ts"],
    pool: "threads",
    maxWorkers: "100%", // the default leaves one processor idle, which on two is half of them
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
