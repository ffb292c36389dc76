/** The file of the tokens if a program names none. */
export const tokensPathDefault = '.stint/tokens.json';
