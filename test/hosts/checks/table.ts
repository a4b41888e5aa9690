// Every check, in the order of the table in docs/hosts.md.
export const CHECKS = {
  listed: 'Suites are listed, or found by tool search',
  direct: 'A direct server works on its first start',
  introspect: '`introspect` lists the subtools',
  call: '`call` runs a subtool',
  image: 'An image arrives',
  error: 'Errors arrive',
  large: 'A large result arrives',
  question: "A server's question is answered",
  agent: 'An agent does a task',
  assistant: 'An assistant answers',
  killed: 'A killed server is started again',
  flip: 'A flip server is switched on and off',
  reload: 'The session survives a reload',
  defaultPolicy: 'The default approval policy allows read-only servers',
  planMode: 'Plan mode allows read-only servers',
  http: 'Two hosts share one Switchboard over HTTP',
  httpFlip: 'A flip server is switched on and off over HTTP',
  cleanup: 'No process is left behind',
} as const;

export type CheckId = keyof typeof CHECKS;
