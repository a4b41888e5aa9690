// A caller that records its questions and messages.
import type { Caller, Question } from '../../src/mcp/caller.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';

export class FakeCaller implements Caller {
  party: object = this;
  era: Caller['era'] = 'handshake';
  capabilities: Caller['capabilities'] = { roots: {}, sampling: {}, elicitation: {} };
  info: Caller['info'] = Verbatim.of({ name: 'some host', version: '7' });
  logLevel: Caller['logLevel'] = 'info';
  readonly asked: string[] = [];
  readonly logged: string[] = [];
  readonly visited: string[] = [];
  readonly missed: object[] = [];
  /** Its answer; override it to take time or to refuse. */
  reply: (question: Question) => Promise<Verbatim> = async ({ method }) =>
    Verbatim.of({ answerTo: method });

  constructor(some: Partial<Caller> = {}) {
    Object.assign(this, some);
  }

  ask(question: Question): Promise<Verbatim> {
    this.asked.push(`${question.method} ${question.params?.text ?? ''}`);
    return this.reply(question);
  }

  noteMissing(capabilities: object): void {
    this.missed.push(capabilities);
  }

  log(params: Verbatim): void {
    this.logged.push(params.text);
  }

  pageVisited(params: Verbatim): void {
    this.visited.push(params.text);
  }
}
