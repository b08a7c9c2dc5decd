/** How API keys are sent in `Authorization`, and how this run sends them: at night the tests of the spec run with each form. */
import { challengesOf, usualSchemes, type AuthorizationScheme } from '../../src/domain/authorization.ts';

interface CredentialForm {
  readonly scheme: AuthorizationScheme;
  /** The value of `Authorization`. */
  readonly of: (key: string) => string;
}

export const credentialForms = {
  Bearer: { scheme: 'Bearer', of: (key) => `Bearer ${key}` },
  Token: { scheme: 'Token', of: (key) => `Token ${key}` },
  ApiKey: { scheme: 'ApiKey', of: (key) => `ApiKey ${key}` },
  'Basic, user name': { scheme: 'Basic', of: (key) => basic(`${key}:`) },
  'Basic, password': { scheme: 'Basic', of: (key) => basic(`api:${key}`) },
} as const satisfies Readonly<Record<string, CredentialForm>>;

/** @param text user name, colon and password; each character is a byte */
export function basic(text: string): string {
  return `Basic ${Buffer.from(text, 'latin1').toString('base64')}`;
}

/** Name of a form. */
export type FormName = keyof typeof credentialForms;

const given = process.env['TEST_CREDENTIAL_FORM'] as FormName | undefined;
const form = formOf('Bearer');

/** The form of this run, or the one with this name if the run has none. */
export function formOf(name: FormName): CredentialForm {
  return credentialForms[given ?? name];
}

/** The value of `Authorization` with which this run sends a key. */
export const authorizationOf = form.of;

/** The schemes that the gateways of this run accept. */
export const acceptedSchemes: readonly AuthorizationScheme[] = [...new Set([...usualSchemes, form.scheme])];

/** Each 401 of these gateways has these values of `WWW-Authenticate`. */
export const challenges: readonly string[] = challengesOf(acceptedSchemes);
