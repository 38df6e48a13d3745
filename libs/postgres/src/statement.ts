/** A statement that is prepared once per connection, under its name. One name never stands for two texts. */
export interface Statement {
  name: string;
  text: string;
}

export const sql = (name: string, text: string): Statement => Object.freeze({ name, text });
