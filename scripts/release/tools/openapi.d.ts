export interface Problem {
  readonly rule: string;
  readonly place: string;
  readonly message: string;
}

/** Lints an OpenAPI document by Redocly's recommended rules. */
export function lintByRedocly(source: string): Promise<Problem[]>;

/** Lints it by every rule of Spectral's OpenAPI and OWASP rule sets, recommended or not. */
export function lintBySpectral(source: string): Promise<Problem[]>;
