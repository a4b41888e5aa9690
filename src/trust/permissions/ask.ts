// Asks the host's user to approve a call. If the question can't show the whole call, it isn't asked.
import type { Cancellation } from '../../base/cancellation.ts';
import { isObject } from '../../base/object.ts';
import { revealHidden } from '../../base/text.ts';
import type { Caller } from '../../mcp/caller.ts';
import { canAnswer, Unanswered } from '../../mcp/questions.ts';
import { RpcError } from '../../rpc/message.ts';
import { Verbatim } from '../../rpc/verbatim.ts';

const CHOICES = {
  once: 'Allow once',
  session: 'Allow for this session',
  always: 'Always allow',
  no: "Don't allow",
} as const;
type Choice = keyof typeof CHOICES;

interface ApprovalQuestion {
  /** The tool and its server. */
  readonly what: string;
  /** The arguments; undefined if there are none to show. */
  readonly params: Verbatim | undefined;
  /** Whether "always" can be written as a rule. */
  readonly canBeKept: boolean;
  readonly caller: Caller | undefined;
  readonly cancellation: Cancellation;
}

/** `problem` completes "This needs the user's approval, but …". */
type ApprovalAnswer = { readonly choice: Choice } | { readonly problem: string };

/** Few hosts show more than this, and users don't read it. */
const LONGEST = 4_000;

const NO_HOST = 'this host does not support elicitation';

export async function askUser(question: ApprovalQuestion): Promise<ApprovalAnswer> {
  const { caller, cancellation } = question;
  const message = messageFor(question);
  if (message === undefined) return { problem: 'its arguments are too long to show completely' };
  if (!caller || !canAnswer(caller.capabilities, 'elicitation/create', {})) {
    return { problem: NO_HOST };
  }
  const params = Verbatim.of({ message, requestedSchema: schemaFor(question) });
  try {
    const { value } = await caller.ask({ method: 'elicitation/create', params, cancellation });
    return { choice: readChoice(value, question) };
  } catch (error) {
    cancellation.throwIfCancelled();
    if (error instanceof Unanswered) return { problem: 'nobody answered in time' };
    // A nested Switchboard finds out only now what its host supports.
    if (error instanceof RpcError) return { problem: NO_HOST };
    throw error;
  }
}

/** Undefined if it can't be shown completely. */
function messageFor({ what, params }: ApprovalQuestion): string | undefined {
  // First: formatting deeply nested arguments would fail.
  if (what.length + (params?.text.length ?? 0) > LONGEST) return undefined;
  const lines = [`Allow this call? ${oneLine(what)}`];
  if (params) lines.push('Arguments:', showArguments(params));
  const message = lines.join('\n');
  return message.length > LONGEST ? undefined : message;
}

/**
 * Indented, unless that would hide something: duplicate keys, of which a server may read another one than we do, and
 * digits that a number can't hold.
 */
function showArguments({ text, value }: Verbatim): string {
  const isPlain = text === JSON.stringify(value);
  return isPlain ? revealHidden(JSON.stringify(value, null, 2)) : oneLine(text);
}

/** Line breaks could fake another line of the question. */
function oneLine(text: string): string {
  return revealHidden(text).replaceAll(/[\r\n]+/g, ' ');
}

function offered({ canBeKept }: Pick<ApprovalQuestion, 'canBeKept'>): Choice[] {
  return canBeKept ? ['once', 'session', 'always', 'no'] : ['once', 'session', 'no'];
}

function schemaFor(question: ApprovalQuestion) {
  const choices = offered(question);
  return {
    type: 'object',
    properties: {
      answer: {
        type: 'string',
        title: 'Your answer',
        enum: choices,
        enumNames: choices.map((choice) => CHOICES[choice]),
      },
    },
    required: ['answer'],
  };
}

/** Anything but a clear yes is a no. */
function readChoice(value: unknown, question: ApprovalQuestion): Choice {
  if (!isObject(value) || value['action'] !== 'accept') return 'no';
  const answer = isObject(value['content']) ? value['content']['answer'] : undefined;
  return offered(question).find((choice) => choice === answer) ?? 'no';
}
