/** What one node said, or that it could not be asked. */
export type NodeAnswer<T> = { value: T } | { error: Error };

/** More than half: two majorities always share a node, also when the number of nodes is even. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/**
 * Asks all nodes at once and waits only until `decided` says that the rest cannot change the outcome: one hung node does
 * not make everybody wait for its deadline. Unanswered places stay undefined.
 */
export function askAll<T>(
  asked: readonly Promise<T>[],
  decided: (answers: readonly (NodeAnswer<T> | undefined)[]) => boolean,
): Promise<(NodeAnswer<T> | undefined)[]> {
  return new Promise((resolve) => {
    const answers: (NodeAnswer<T> | undefined)[] = asked.map(() => undefined);
    let left = asked.length;
    const put = (index: number, answer: NodeAnswer<T>) => {
      answers[index] = answer;
      left -= 1;
      if (left === 0 || decided(answers)) resolve([...answers]);
    };
    for (const [index, promise] of asked.entries()) {
      promise.then(
        (value) => put(index, { value }),
        (error: unknown) => put(index, { error: error instanceof Error ? error : new Error(String(error)) }),
      );
    }
    if (left === 0) resolve(answers);
  });
}

/** True once at least `enough` of the answers satisfy the question, or so few are left that they no longer can. */
export function settledBy<T>(enough: number, yes: (value: T) => boolean) {
  return (answers: readonly (NodeAnswer<T> | undefined)[]): boolean => {
    const count = countOf(answers, yes);
    const open = answers.filter((answer) => answer === undefined).length;
    return count >= enough || count + open < enough;
  };
}

export function countOf<T>(answers: readonly (NodeAnswer<T> | undefined)[], yes: (value: T) => boolean): number {
  return answers.filter((answer) => answer !== undefined && 'value' in answer && yes(answer.value)).length;
}

export function errorsOf<T>(answers: readonly (NodeAnswer<T> | undefined)[]): Error[] {
  return answers.flatMap((answer) => (answer && 'error' in answer ? [answer.error] : []));
}
