/** The version of this package. A test compares it with package.json, which a bundle does not contain. */
export const version = '0.2.0';
