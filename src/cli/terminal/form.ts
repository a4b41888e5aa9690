// Asks for the fields of a server's form (`elicitation/create`) one by one, and checks each answer. The user
// can decline before the first field and cancel (Ctrl-D) at any of them.
import { isObject } from '../../base/object.ts';
import { excerpt } from '../../base/text.ts';

export interface Prompter {
  /** Resolves to the user's input; undefined on Ctrl-D. */
  readonly ask: (prompt: string) => Promise<string | undefined>;
  readonly say: (line: string) => void;
}

/** An answer to `elicitation/create`. */
export interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly choices: readonly Choice[];
}

interface Choice {
  readonly value: unknown;
  readonly title: string;
}

const LONGEST_LABEL = 200;
const DECLINED: FormAnswer = { action: 'decline' };
const CANCELLED: FormAnswer = { action: 'cancel' };

export async function fillForm(schema: unknown, prompter: Prompter): Promise<FormAnswer> {
  const fields = fieldsOf(schema);
  const unsupported = fields.find((field) => field.kind === undefined);
  if (unsupported) {
    prompter.say(`Declined: "${unsupported.label}" cannot be answered on a terminal.`);
    return DECLINED;
  }
  const [first, ...more] = fields as readonly Field[];
  if (!first) return toAnswer(await askYesNo('Allow it', false, prompter));
  if (first.kind === 'boolean' && more.length === 0) {
    const isYes = await askYesNo(first.label, first.schema['default'] === true, prompter);
    return isYes === undefined ? CANCELLED : accept({ [first.name]: isYes });
  }
  const isWanted = await askYesNo('Answer', true, prompter);
  return isWanted ? fillFields([first, ...more], prompter) : toAnswer(isWanted);
}

async function fillFields(fields: readonly Field[], prompter: Prompter): Promise<FormAnswer> {
  const content: [string, unknown][] = [];
  for (const field of fields) {
    const answer = await askField(field, prompter);
    if (answer === undefined) return CANCELLED;
    if (answer.value !== undefined) content.push([field.name, answer.value]);
  }
  return accept(Object.fromEntries(content));
}

function accept(content: Readonly<Record<string, unknown>>): FormAnswer {
  return { action: 'accept', content };
}

function toAnswer(isYes: boolean | undefined): FormAnswer {
  if (isYes === undefined) return CANCELLED;
  return isYes ? accept({}) : DECLINED;
}

/** Undefined on Ctrl-D. */
export async function askYesNo(
  question: string,
  usual: boolean,
  prompter: Prompter,
): Promise<boolean | undefined> {
  const typed = await prompter.ask(`${question}? [${usual ? 'Y/n' : 'y/N'}] `);
  if (typed === undefined) return undefined;
  return usual ? !/^no?$/i.test(typed.trim()) : /^y(es)?$/i.test(typed.trim());
}

/** A value of undefined leaves the field out. */
async function askField(field: Field, prompter: Prompter): Promise<{ value: unknown } | undefined> {
  const usual = field.schema['default'];
  for (const [index, { title }] of field.choices.entries())
    prompter.say(`  ${index + 1}  ${title}`);
  const prompt = promptFor(field);
  for (;;) {
    const typed = (await prompter.ask(prompt))?.trim();
    if (typed === undefined) return undefined;
    if (typed === '' && usual !== undefined) return { value: usual };
    if (typed === '' && !field.isRequired) return { value: undefined };
    const read = typed === '' ? 'This field is required.' : readField(typed, field);
    if (typeof read === 'object') return read;
    prompter.say(read);
  }
}

function promptFor({ label, kind, choices, isRequired, schema }: Field): string {
  const { description, default: usual } = schema;
  const about = typeof description === 'string' ? ` (${excerpt(description, LONGEST_LABEL)})` : '';
  const optional = isRequired || usual !== undefined ? '' : ' (optional)';
  const range = choices.length > 0 ? `, 1 to ${choices.length}` : '';
  const several = kind === 'choices' ? ', separated by commas' : '';
  const yesNo = kind === 'boolean' && usual === undefined ? ' [y/n]' : '';
  const initial = usual === undefined ? '' : ` [${excerpt(showDefault(usual), LONGEST_LABEL)}]`;
  return `${label}${about}${optional}${range}${several}${yesNo}${initial}: `;
}

function showDefault(usual: unknown): string {
  if (typeof usual === 'boolean') return usual ? 'y' : 'n';
  return typeof usual === 'string' ? usual : JSON.stringify(usual);
}

/** The value, or what is wrong with it. */
function readField(typed: string, field: Field): { value: unknown } | string {
  switch (field.kind) {
    case 'string':
      return checkLength(typed, field.schema);
    case 'number':
    case 'integer':
      return readNumber(typed, field);
    case 'boolean': {
      const [, yes, no] = /^(?:(y|yes|true)|(n|no|false))$/i.exec(typed) ?? [];
      return yes || no ? { value: yes !== undefined } : 'Enter y or n.';
    }
    case 'choice': {
      const choice = choose(typed, field.choices);
      return choice ? { value: choice.value } : 'Choose one from the list.';
    }
    case 'choices':
      return readChoices(typed, field);
  }
}

function checkLength(
  typed: string,
  { minLength, maxLength }: Field['schema'],
): { value: string } | string {
  const { length } = Array.from(typed);
  if (typeof minLength === 'number' && length < minLength) {
    return `Enter at least ${minLength} characters.`;
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    return `Enter at most ${maxLength} characters.`;
  }
  return { value: typed };
}

function readNumber(typed: string, { kind, schema }: Field): { value: number } | string {
  const value = Number(typed);
  if (kind === 'integer' && !Number.isInteger(value)) return 'Enter a whole number.';
  if (!Number.isFinite(value)) return 'Enter a number.';
  const { minimum, maximum } = schema;
  if (typeof minimum === 'number' && value < minimum) return `Enter at least ${minimum}.`;
  if (typeof maximum === 'number' && value > maximum) return `Enter at most ${maximum}.`;
  return { value };
}

function readChoices(typed: string, { choices, schema }: Field): { value: unknown[] } | string {
  const chosen = typed.split(',').map((word) => choose(word.trim(), choices));
  const values = chosen.flatMap((choice) => (choice ? [choice.value] : []));
  if (values.length < chosen.length) return 'Choose from the list.';
  const { minItems, maxItems } = schema;
  if (typeof minItems === 'number' && values.length < minItems)
    return `Choose at least ${minItems}.`;
  if (typeof maxItems === 'number' && values.length > maxItems)
    return `Choose at most ${maxItems}.`;
  return { value: values };
}

/** By its value, its title or its number. */
function choose(typed: string, choices: readonly Choice[]): Choice | undefined {
  const word = typed.toLowerCase();
  return (
    choices.find(({ value }) => String(value) === typed) ??
    choices.find(({ title }) => title.toLowerCase() === word) ??
    (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined)
  );
}

/** `kind` is undefined for field types that MCP doesn't have. */
type FoundField = Omit<Field, 'kind'> & { readonly kind: Field['kind'] | undefined };

function fieldsOf(schema: unknown): FoundField[] {
  const { properties, required } = isObject(schema) ? schema : {};
  const names = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(isObject(properties) ? properties : {}).map(([name, given]) => {
    const field = isObject(given) ? given : {};
    const isList = field['type'] === 'array';
    const choices = choicesOf(isList ? field['items'] : field);
    const title = typeof field['title'] === 'string' ? field['title'] : name;
    return {
      name,
      label: excerpt(title, LONGEST_LABEL),
      isRequired: names.has(name),
      schema: field,
      kind: kindOf(field, choices),
      choices,
    };
  });
}

function kindOf({ type }: Field['schema'], { length }: readonly Choice[]): FoundField['kind'] {
  if (length > 0) return type === 'array' ? 'choices' : 'choice';
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean'
    ? type
    : undefined;
}

function choicesOf(schema: unknown): Choice[] {
  if (!isObject(schema)) return [];
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  if (Array.isArray(values)) {
    const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value: unknown, index) => toChoice(value, titles[index]));
  }
  const titled: unknown = oneOf ?? anyOf;
  if (!Array.isArray(titled)) return [];
  return titled.flatMap((one: unknown) =>
    isObject(one) && 'const' in one ? [toChoice(one['const'], one['title'])] : [],
  );
}

function toChoice(value: unknown, title: unknown): Choice {
  const shown = typeof title === 'string' ? title : String(value);
  return { value, title: excerpt(shown, LONGEST_LABEL) };
}
