export declare function unusedPort(): Promise<number>;
