package warehouse.execution;

import java.lang.invoke.MethodHandles;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.util.HyperLogLogPlusPlusHelper;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.codehaus.commons.compiler.CompileException;
import org.codehaus.janino.SimpleCompiler;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * The methods of `WarehousePartials` as functions of SQL, each `__w_` and its name. Tasks and the code that is generated
 * for them find classes on the class path alone, so that class is put there, by the loader of its neighbour in Spark,
 * when a query first calls one; executors in processes of their own have it as a file.
 */
public final class PartialFunctions {
  private static final String HOME = "org.apache.spark.sql.catalyst.util.WarehousePartials";

  private final String source;
  private Class home;

  /** @param source the text of `WarehousePartials` */
  public PartialFunctions(String source) {
    this.source = source;
  }

  /** Make them known to all sessions to come, unless they are. */
  public void register() {
    register("unit", DataTypes.LongType);
    register("covariance", DataTypes.DoubleType);
    register("register", DataTypes.IntegerType);
    register("largest", DataTypes.createArrayType(DataTypes.IntegerType, false));
    register("estimate", DataTypes.LongType);
  }

  private void register(String method, DataType type) {
    FunctionIdentifier name = new FunctionIdentifier("__w_" + method);
    if (!FunctionRegistry$.MODULE$.builtin().functionExists(name)) {
      ExpressionInfo info = new ExpressionInfo(HOME, name.funcName());
      FunctionRegistry$.MODULE$.builtin().registerFunction(name, info, new Call(this, method, type));
    }
  }

  /** That class as it is in a file, for the class path of processes other than this one. */
  public byte[] compiled() throws CompileException {
    SimpleCompiler compiler = new SimpleCompiler();
    compiler.setParentClassLoader(HyperLogLogPlusPlusHelper.class.getClassLoader());
    compiler.cook(source);
    return (byte[]) compiler.getBytecodes().get(HOME);
  }

  synchronized Class home() {
    if (home == null) {
      try {
        home = MethodHandles.privateLookupIn(HyperLogLogPlusPlusHelper.class, MethodHandles.lookup())
            .defineClass(compiled());
      } catch (CompileException failed) {
        throw new IllegalStateException(failed);
      } catch (IllegalAccessException failed) {
        throw new IllegalStateException(failed);
      }
    }
    return home;
  }

  /** Makes a call of a function from its arguments, NULL where one of these is. */
  static final class Call extends AbstractFunction1 {
    private final PartialFunctions all;
    private final String method;
    private final DataType type;

    Call(PartialFunctions all, String method, DataType type) {
      this.all = all;
      this.method = method;
      this.type = type;
    }

    @Override
    public Object apply(Object arguments) {
      return new StaticInvoke(all.home(), type, method, (Seq) arguments, (Seq) Nil$.MODULE$, true, false, true,
          Option.empty());
    }
  }
}
