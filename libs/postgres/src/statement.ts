/** A statement that is prepared once per connection, under its name. One name never stands for two texts. */
export interface Statement {
  name: string;
  text: string;
}

const texts = new Map<string, string>();

export function sql(name: string, text: string): Statement {
  // Two files may have the same idea: found when they are loaded, and not by the first connection that sees both.
  if ((texts.get(name) ?? text) !== text) throw new Error(`Two statements are called "${name}": rename one of them.`);
  texts.set(name, text);
  return Object.freeze({ name, text });
}
