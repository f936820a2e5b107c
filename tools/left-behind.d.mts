interface Left {
  pid: number;
  command: string;
  folder: string;
}

export function marked(mark: string): Record<string, string>;
export function processesOf(mark: string): Left[] | undefined;
export function endProcessesOf(mark: string, seconds?: number): Promise<Left[] | undefined>;
