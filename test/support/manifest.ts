/** The gateway's file as the pods of a Deployment read it. */
export function configOf(deployment: Manifest): string {
  return deployment.spec?.template?.metadata.annotations?.['tenancy-gateway/config'] ?? '';
}

/** As much of the Kubernetes API as the tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: Spec;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly automountServiceAccountToken?: boolean;
}

export interface Metadata {
  readonly name: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

export type Labels = Readonly<Record<string, string>>;

/** The specs of all kinds in one: a test reads what its kind has. */
export interface Spec extends PodSpec {
  readonly replicas?: number;
  readonly selector?: Labels & { readonly matchLabels?: Labels };
  readonly template?: { readonly metadata: Metadata; readonly spec: PodSpec };
  readonly podSelector?: { readonly matchLabels: Labels };
  readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
  readonly ingress?: readonly {
    readonly ports: readonly { readonly port: string }[];
    readonly from?: readonly unknown[];
  }[];
  readonly type?: string;
  readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly downwardAPI?: unknown }[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly topologySpreadConstraints?: readonly {
    readonly labelSelector: { readonly matchLabels: Labels };
  }[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number };
}

/** The pod that a manifest makes, with its labels; nothing for a kind that makes none. */
export function podOf(manifest: Manifest): { readonly labels: Labels; readonly spec: PodSpec } | undefined {
  if (manifest.kind === 'Pod' && manifest.spec)
    return { labels: manifest.metadata.labels ?? {}, spec: manifest.spec };
  const template = manifest.spec?.template;
  return template && { labels: template.metadata.labels ?? {}, spec: template.spec };
}

/** Whether a label selector finds a pod with these labels. */
export function selects(selector: Labels | undefined, labels: Labels): boolean {
  return selector !== undefined && Object.entries(selector).every(([name, value]) => labels[name] === value);
}

/** The one manifest of a kind, or of a kind and a name. */
export function only(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const all = manifests.filter(
    (one) => one.kind === kind && (name === undefined || one.metadata.name === name),
  );
  const [one] = all;
  if (!one || all.length > 1) throw new Error(`${all.length} manifests of kind ${kind}`);
  return one;
}
