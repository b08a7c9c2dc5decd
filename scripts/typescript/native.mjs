// @ts-check

const { typescript } = /** @type {{ typescript?: unknown }} */ (process.features);

/** Whether this Node runs TypeScript sources by itself, as it does since 22.18. */
export const runsTypeScript = Boolean(typescript);
