package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/** An expression of ours, which Spark's generated code calls; each is equal to itself alone. */
abstract class Own extends Expression implements java.io.Serializable {
  private final Seq children;

  Own(Seq children) {
    this.children = children;
  }

  public Seq children() {
    return children;
  }

  final Expression child(int number) {
    return (Expression) children.apply(number);
  }

  static Seq only(Object element) {
    return (Seq) new ListBuffer().addOne(element).toList();
  }

  public ExprCode doGenCode(CodegenContext context, ExprCode code) {
    String self = context.addReferenceObj("own", this, Expression.class.getName());
    String result = context.freshName("result");
    String type = CodeGenerator.javaType(dataType());
    String text = "Object " + result + " = " + self + ".eval(" + context.INPUT_ROW() + ");\n"
        + "boolean " + code.isNull() + " = " + result + " == null;\n"
        + type + " " + code.value() + " = " + code.isNull() + " ? " + CodeGenerator.defaultValue(dataType(), false)
        + " : (" + CodeGenerator.boxedType(dataType()) + ") " + result + ";\n";
    return code.copy(new CodeBlock(only(text), new ListBuffer().toList()), code.isNull(), code.value());
  }

  public int productArity() {
    return 0;
  }

  public Object productElement(int number) {
    throw new IndexOutOfBoundsException(String.valueOf(number));
  }

  public boolean canEqual(Object other) {
    return other == this;
  }

  public boolean equals(Object other) {
    return other == this;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }
}
