/** The pipes of a child process, by the number of their file. No IPC channel: that one queues without bound. */
export const pipes = { commands: 3, reports: 4, life: 5 } as const;
