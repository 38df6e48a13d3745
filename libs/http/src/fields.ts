import { Matches, ValidateIf } from 'class-validator';

/** May be left out, may not be null: a null that silently became the default would be a changed request. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Text of 1 to `maxLength` characters, as PostgreSQL counts them (not UTF-16 units), and not only blanks. */
export const IsLabel = (maxLength: number): PropertyDecorator =>
  Matches(new RegExp(String.raw`^(?=.*\S).{1,${maxLength}}$`, 'su'), {
    message: `$property must be 1 to ${maxLength} characters and not only blanks`,
  });
