interface Manifest {
  version: string;
  repository: { url: string };
}
export function addressOf(manifest: Pick<Manifest, "repository">): string;
export function publishedManifest<T extends Manifest>(
  manifest: T,
): T & { homepage: string; bugs: { url: string } };
export function withAbsoluteLinks(
  text: string,
  from: { page: string; manifest: Manifest; isPacked: (file: string) => boolean },
): string;
export function pack(folder: string): { tarball: string; files: string[] };
