/**
 * The lowest id of types, builds, named limits and pauses, whose ids follow from their names. Their highest id is below
 * `firstMemoryId` (2 ** 52), the lowest id of in-memory jobs.
 */
export const firstRecordId = 2 ** 51;
