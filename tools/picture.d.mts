export const columns: number;
export function stable(printed: string): string;
export function svgOf(text: string, engine: string): string;
export function textIn(svg: string): string;
export function engineIn(svg: string): string | undefined;
export function shows(svg: string, text: string, engine: string): boolean;
