/** The version of this package. A constant, since there is no package.json beside a bundle; a test compares the two. */
export const version = '0.1.0';
