/** The names of the built-in job types. */
export const httpTypeName = 'http';
export const execTypeName = 'exec';
