/** The default path of the token file. */
export const tokensPathDefault = '.stint/tokens.json';
