/** How often a race is run: enough for every change here, many more with ORDER_RACE_ROUNDS=1000. */
export const raceRounds = (): number => Number(process.env['ORDER_RACE_ROUNDS'] ?? 60);
