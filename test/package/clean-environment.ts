// The environment of a stranger: without what npm, vitest and Node's options of the test run have set.

/** Under npm, npm would take the project of the tests for its own. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD|VITEST|NODE_(?!EXTRA_CA_CERTS))/.test(name)),
  );
