// Archives that are the same, byte for byte, whenever they are made of the same files with the same build of Node.js: the compressed
// bytes depend on its zlib.
import { gzipSync } from "node:zlib";

const block = 512;
/** What npm gives all files of a tarball: some programs take the year 1970 for no time at all. */
const time = new Date("1985-10-26T08:15:00Z");

/**
 * A compressed tar archive (ustar) of files, in this order.
 * @param {{ name: string, content: Buffer, isExecutable: boolean }[]} files
 */
export function archiveOf(files) {
  const blocks = files.flatMap(({ name, content, isExecutable }) => {
    const padding = Buffer.alloc((block - (content.length % block)) % block);
    return [headerOf(name, content.length, isExecutable ? 0o755 : 0o644), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * block)]), { level: 9 });
}

function headerOf(name, size, mode) {
  const header = Buffer.alloc(block);
  const octal = (value, digits) => `${value.toString(8).padStart(digits, "0")}\0`;
  const fields = [
    ...[name.padEnd(100, "\0"), octal(mode, 7), octal(0, 7), octal(0, 7)],
    ...[octal(size, 11), octal(time / 1000, 11), " ".repeat(8), "0", "\0".repeat(100), "ustar\x0000"],
  ];
  if (header.write(fields.join(""), "latin1") !== 265 || name.length > 99)
    throw new Error(`The name ${name} does not fit into an archive.`);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
